// What is looked at in every frame that a device sends: no row, nothing before local convergence, and no centroid on
// fewer rows than the minimum unless neighbours moved it. Plain JavaScript, because processes without a test run it too.

/** By model: study, rows in scaled units by their first numbers, ended starts of the own k-means, and who moved it. */
const watched = new WeakMap();

function byFirst({ data, rows, cols }) {
  const found = new Map();
  for (let r = 0; r < rows; r++) {
    const row = data.subarray(r * cols, (r + 1) * cols);
    const alike = found.get(row[0]);
    if (alike === undefined) found.set(row[0], [row]);
    else alike.push(row);
  }
  return found;
}

/** How many rows equal the centroid with this number. */
function equalRows({ rows }, data, c, d) {
  const alike = rows.get(data[c * d]) ?? [];
  return alike.filter((row) => row.every((x, i) => x === data[c * d + i])).length;
}

function scan(own, { outgoing, last, localData: { rows: all } }, starts, report) {
  if (outgoing === undefined) return;
  const { data, present } = outgoing;
  const { k, minimum, privacy } = own.study;
  // Rows that are too few to count are not clustered, and what is sent are neighbours' centroids. Private rows are never:
  // a device whose first release is not written down yet has nothing but its neighbours' centroids either.
  if (all > 0 && privacy !== "private" && !own.isKept && own.restarts < starts) {
    report(`a frame was sent after ${own.restarts} of ${starts} starts of the own k-means`);
  }
  for (let c = 0; c < k; c++) {
    if (!present[c]) continue;
    const rows = last?.counts[c] ?? minimum;
    if (rows > 0 && rows < minimum && (privacy === "guarded" || !own.isPulled)) {
      report(`a centroid was sent that stands on ${rows} rows, the minimum is ${minimum}`);
    }
    scanNumbers(own, "centroid", { data, c, d: data.length / k, rows }, report);
  }
}

/** A group of equal rows is as large as they are many. A study with a minimum of 1 hides no row. */
function scanNumbers(own, name, { data, c, d, rows }, report) {
  const equal = equalRows(own, data, c, d);
  if (equal === 0 || equal >= Math.max(2, own.study.minimum) || (rows === 1 && own.study.minimum === 1)) return;
  report(`a ${name} was sent that equals a row: ${data.slice(c * d, (c + 1) * d).join(", ")}`);
}

/** The same class, and what its models do is remembered. `scaleRows`: that of units.ts. */
export function watchedModel(Model, scaleRows) {
  // Rows elsewhere are known to nobody here.
  const known = (study, rows) =>
    "source" in rows ? { data: [], rows: 0, cols: study.features.length } : scaleRows(study, rows);
  return class extends Model {
    constructor(...given) {
      super(...given);
      const [study, rows, , saved] = given;
      const isKept = saved !== undefined;
      watched.set(this, { study, rows: byFirst(known(study, rows)), restarts: 0, isKept, isPulled: false });
    }

    setRows(rows) {
      const own = watched.get(this);
      own.rows = byFirst(known(own.study, rows));
      return super.setRows(rows);
    }

    restart(sketch) {
      const own = watched.get(this);
      if (!this.isRestarting || this.remoteRows === undefined) {
        if (this.isRestarting) own.restarts++;
        return super.restart(sketch);
      }
      // Rows elsewhere are clustered from all starts at once.
      return super.restart(sketch).then(() => {
        own.restarts = Number.POSITIVE_INFINITY;
      });
    }

    update(neighbours) {
      const isDone = super.update(neighbours);
      const own = watched.get(this);
      if (isDone) own.isPulled = neighbours.length > 0 && own.study.alpha > 0;
      return isDone;
    }
  };
}

/** The same class, and `report` learns what is wrong with a frame. `starts`: of the own k-means. */
export function watchedSender(Sender, starts, report) {
  return class extends Sender {
    #options;

    constructor(options) {
      super(options);
      this.#options = options;
    }

    sendTo(neighbours) {
      const before = this.framesSent;
      super.sendTo(neighbours);
      const { model, openingSync } = this.#options;
      const own = watched.get(model);
      if (own === undefined || this.framesSent === before) return;
      scan(own, model, starts, report);
      const sketch = openingSync.own;
      if (sketch === undefined) return;
      const d = sketch.centroids.length / sketch.shares.length;
      // Shares are rounded up to 255ths.
      const shareOfOne = Math.ceil(255 / model.localData.rows);
      sketch.shares.forEach((share, c) => {
        const rows = share <= shareOfOne ? 1 : 2;
        if (share > 0) scanNumbers(own, "sketch", { data: sketch.centroids, c, d, rows }, report);
      });
    }
  };
}

/** The same class, and `report` learns of counts of too few rows while columns are described. `describe`: that stage. */
export function watchedRows(Rows, describe, report) {
  return class extends Rows {
    #study;

    constructor(options) {
      super(options);
      this.#study = options.study;
    }

    integersFor(content) {
      const integers = super.integersFor(content);
      const { privacy, minimum } = this.#study;
      // The first round has nothing but counts, of all rows and then of those in bins and buckets.
      if (privacy === "guarded" && content.stage === describe && content.steps === 0) {
        const few = integers?.find((count) => count > 0 && count < minimum);
        if (few !== undefined)
          report(`${few} rows were told apart while columns were described, the minimum is ${minimum}`);
      }
      return integers;
    }
  };
}
