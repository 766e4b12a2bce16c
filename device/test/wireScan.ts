// A look at everything that devices send in any test of the suite: no row, nothing before local convergence, and no
// centroid on fewer rows than the minimum unless neighbours moved it. It is a setup file: what it finds fails the test.
// It imports nothing, because it stands before every test file; what it needs comes with the modules that it watches.

import type { Matrix } from "@fedkm/core";
import { afterEach, vi } from "vitest";
import type { Model } from "../src/model.ts";
import type { Sender, SenderOptions } from "../src/sender.ts";
import type { Study } from "../src/study.ts";

/** What the scan knows of a device. */
interface Watched {
  readonly study: Study;
  /** In scaled units, by their first numbers: most lookups end there. */
  rows: Map<number, Float64Array[]>;
  /** Starts of the own k-means that have ended. */
  restarts: number;
  /** It goes on from an earlier start. */
  readonly isKept: boolean;
  /** Whether neighbours had a part in the last update. */
  isPulled: boolean;
}

const watched = new WeakMap<object, Watched>();
const faults: string[] = [];

/** What was found since it was last asked. */
export function takeFaults(): string[] {
  return faults.splice(0);
}

function byFirst({ data, rows, cols }: Matrix): Watched["rows"] {
  const found: Watched["rows"] = new Map();
  for (let r = 0; r < rows; r++) {
    const row = data.subarray(r * cols, (r + 1) * cols);
    const alike = found.get(row[0]);
    if (alike === undefined) found.set(row[0], [row]);
    else alike.push(row);
  }
  return found;
}

/** How many rows equal the centroid with this number. */
function equalRows({ rows }: Watched, data: Float64Array, c: number, d: number): number {
  const alike = rows.get(data[c * d]) ?? [];
  return alike.filter((row) => row.every((x, i) => x === data[c * d + i])).length;
}

function scan(own: Watched, { outgoing, last, rows: all }: Model, starts: number): void {
  if (outgoing === undefined) return;
  const { data, present } = outgoing;
  const { k, minimum, privacy } = own.study;
  // Rows that are too few to count are not clustered, and what is sent are neighbours' centroids.
  if (all > 0 && !own.isKept && own.restarts < starts) {
    faults.push(`a frame was sent after ${own.restarts} of ${starts} starts of the own k-means`);
  }
  for (let c = 0; c < k; c++) {
    if (!present[c]) continue;
    const rows = last?.counts[c] ?? minimum;
    if (rows > 0 && rows < minimum && (privacy === "guarded" || !own.isPulled)) {
      faults.push(`a centroid was sent that stands on ${rows} rows, the minimum is ${minimum}`);
    }
    scanNumbers(own, "centroid", { data, c, d: data.length / k }, rows);
  }
}

/** A group of equal rows is as large as they are many. A study with a minimum of 1 hides no row. */
function scanNumbers(
  own: Watched,
  name: string,
  { data, c, d }: { data: Float64Array; c: number; d: number },
  rows: number,
): void {
  const equal = equalRows(own, data, c, d);
  if (equal === 0 || equal >= Math.max(2, own.study.minimum) || (rows === 1 && own.study.minimum === 1)) return;
  faults.push(`a ${name} was sent that equals a row: ${data.slice(c * d, (c + 1) * d).join(", ")}`);
}

vi.mock(import("../src/model.ts"), async (original) => {
  const actual = await original();
  const { scaleRows } = await import("../src/units.ts");
  class WatchedModel extends actual.Model {
    constructor(...given: ConstructorParameters<typeof Model>) {
      super(...given);
      const [study, rows, , saved] = given;
      const isKept = saved !== undefined;
      watched.set(this, { study, rows: byFirst(scaleRows(study, rows)), restarts: 0, isKept, isPulled: false });
    }

    get #own(): Watched {
      return watched.get(this) as Watched;
    }

    override setRows(rows: Matrix): boolean {
      this.#own.rows = byFirst(scaleRows(this.#own.study, rows));
      return super.setRows(rows);
    }

    override restart(): void {
      if (this.isRestarting) this.#own.restarts++;
      super.restart();
    }

    override update(neighbours: readonly Matrix[]): boolean {
      const isDone = super.update(neighbours);
      if (isDone) this.#own.isPulled = neighbours.length > 0 && this.#own.study.alpha > 0;
      return isDone;
    }
  }
  return { ...actual, Model: WatchedModel };
});

vi.mock(import("../src/sender.ts"), async (original) => {
  const actual = await original();
  const { defaults } = await import("@fedkm/core/defaults");
  class WatchedSender extends actual.Sender {
    readonly #options: SenderOptions;

    constructor(options: SenderOptions) {
      super(options);
      this.#options = options;
    }

    override sendTo(neighbours: Parameters<Sender["sendTo"]>[0]): void {
      const before = this.framesSent;
      super.sendTo(neighbours);
      const own = watched.get(this.#options.model);
      if (own === undefined || this.framesSent === before) return;
      const { model, gathering } = this.#options;
      scan(own, model, defaults.restarts);
      const sketch = gathering.own;
      if (sketch === undefined) return;
      const d = sketch.centroids.length / sketch.shares.length;
      // Shares are rounded up to 255ths.
      const shareOfOne = Math.ceil(255 / model.rows);
      sketch.shares.forEach((share, c) => {
        const rows = share <= shareOfOne ? 1 : 2;
        if (share > 0) scanNumbers(own, "sketch", { data: sketch.centroids, c, d }, rows);
      });
    }
  }
  return { ...actual, Sender: WatchedSender };
});

afterEach(() => {
  const [first, ...more] = takeFaults();
  if (first !== undefined)
    throw new Error(`on the wire: ${first}${more.length > 0 ? ` (and ${more.length} more)` : ""}`);
});
