// Whether clusters are apart: whether rows thin out between two centroids, in tubes along which a cut makes no valley.

import { kmeans, type Matrix, matchCentroids, predict, randomStream, takeRows } from "@fedkm/core";
import { applyScaling, type Scaling, undoScaling } from "@fedkm/files";

export interface Verdict {
  readonly word: "clear" | "weak" | "none" | "too few rows";
  /** Pairs of neighbouring clusters that are not apart. */
  readonly joined: readonly (readonly [number, number])[];
}

/** A row at 0 is beside the first centroid, at 1 beside the second; a tube reaches a little beyond both. */
const FROM = -0.25;
const TO = 1.25;
const BINS = 12;

/** Fewer rows in a tube say nothing of a pair; tubes of fewer than the second cannot show a valley. */
const FEWEST = 8;
const ENOUGH = 20;

/** Fewer rows for each column than this: the rows that placed the centroids must not judge them. */
const ROWS_A_COLUMN = 50;

/** Of chance for all pairs together, and for one of them after that. */
const ANY = 0.01;
const ONE = 0.1;

/** What is left in the valley, of the lower peak: a pair is apart, and clearly so. */
const APART = 0.8;
const CLEARLY = 0.5;

/** The share of rows in clusters that are clearly apart from all neighbours, where the whole is clear. */
const MOST = 0.8;

/** Evenly spread rows have a gain beyond this with a chance that falls by a factor e for each nat. */
const BY_CHANCE = 1.1;

/** More columns than this are taken as if they did not vary together: products of all pairs would take too long. */
const MOST_COLUMNS = 64;

/** `rows` of all devices on their scale, and the centroids of all of them together. */
export function clusterVerdict(rows: Matrix, centroids: Matrix, scaling: Scaling, seed: number): Verdict {
  const k = centroids.rows;
  const spread = offGrids(rows, scaling, seed);
  const labels = predict(centroids, spread);
  const pairs = judgedPairs(spread, centroids, seed);
  if (pairs === undefined || pairs.every((pair) => pair.rows < ENOUGH)) return { word: "too few rows", joined: [] };
  const isApart = (pair: JudgedPair) => pair.chance < ONE && pair.valley <= APART;
  const joined = pairs.filter((pair) => !isApart(pair)).map(({ a, b }) => [a, b] as const);
  if (leastOfAll(pairs) >= ANY) return { word: "none", joined };
  const sizes = new Float64Array(k);
  for (const label of labels) sizes[label]++;
  const groups = groupsOf(k, joined);
  const totals = new Float64Array(k);
  for (const [c, group] of groups.entries()) totals[group] += sizes[c];
  // A few strays in a tail are no cluster, however far they are.
  const least = Math.max(5, 0.01 * rows.rows * Math.min(1, 10 / k));
  if (totals.filter((size) => size >= least).length < 2) return { word: "none", joined };
  const across = acrossBorders(spread, labels, groups, seed);
  if (across !== undefined && across.ratio - across.error >= 0.9) return { word: "none", joined };
  const isClear = (c: number) => {
    const own = pairs.filter(({ a, b }) => a === c || b === c);
    return own.length > 0 && own.every((pair) => isApart(pair) && pair.valley <= CLEARLY);
  };
  const clear = sizes.reduce((sum, size, c) => (isClear(c) ? sum + size : sum), 0);
  const isWhole = clear >= MOST * rows.rows && (across === undefined || across.ratio <= CLEARLY);
  return { word: isWhole ? "clear" : "weak", joined };
}

/** By cluster the number of its group: clusters that are joined, directly or through others. */
function groupsOf(k: number, joined: Verdict["joined"]): number[] {
  const groups = Array.from({ length: k }, (_, c) => c);
  for (const [a, b] of joined) {
    const [from, to] = [groups[b], groups[a]];
    groups.forEach((own, c) => {
      if (own === from) groups[c] = to;
    });
  }
  return groups;
}

/** Simes: the chance of any of them. */
function leastOfAll(pairs: readonly JudgedPair[]): number {
  const rising = pairs.map(({ chance }) => chance).sort((x, y) => x - y);
  return rising.reduce((least, chance, i) => Math.min(least, (chance * rising.length) / (i + 1)), 1);
}

interface JudgedPair {
  readonly a: number;
  readonly b: number;
  readonly rows: number;
  /** Of a valley as deep as this where there is none. */
  readonly chance: number;
  /** The lowest share of rows between the peaks, of the lower one. */
  readonly valley: number;
}

/** Undefined: there are too few rows for halves. */
function judgedPairs(rows: Matrix, centroids: Matrix, seed: number): JudgedPair[] | undefined {
  if (rows.rows >= ROWS_A_COLUMN * rows.cols) {
    return tubesOf(rows, centroids, shapesOf(rows, centroids)).map(({ a, b, bins }) => {
      const { gain, valley } = valleyOf(bins);
      return { a, b, rows: total(bins), chance: Math.min(1, Math.exp(BY_CHANCE - gain)), valley };
    });
  }
  const random = randomStream(seed);
  const sides: number[][] = [[], []];
  for (let r = 0; r < rows.rows; r++) sides[random() < 0.5 ? 0 : 1].push(r);
  const halves = sides.map((own) => takeRows(rows, own));
  const k = centroids.rows;
  if (halves.some((half) => half.rows < 2 * k)) return undefined;
  const looks = new Map<string, { a: number; b: number; bins: Uint32Array }[]>();
  halves.forEach((half, side) => {
    const own = kmeans(half, { k, seed }).centroids;
    const numbers = matchCentroids(own, centroids);
    for (const tube of tubesOf(halves[1 - side], own, shapesOf(half, own))) {
      const [a, b] = [numbers[tube.a], numbers[tube.b]].sort((x, y) => x - y);
      looks.set(`${a} ${b}`, [...(looks.get(`${a} ${b}`) ?? []), { a, b, bins: tube.bins }]);
    }
  });
  return [...looks.values()].map(bothHalves);
}

/** Gains are added, never bins: a falling and a rising half add up to a valley that is in neither. */
function bothHalves(looks: readonly { a: number; b: number; bins: Uint32Array }[]): JudgedPair {
  const [{ a, b }] = looks;
  const found = looks.map(({ bins }) => ({ ...valleyOf(bins), rows: total(bins) }));
  const rows = found.reduce((sum, own) => sum + own.rows, 0);
  const excess = found.reduce((sum, { gain }) => sum + gain - BY_CHANCE, 0);
  const chance = looks.length === 1 ? 2 * Math.exp(-excess) : excess > 0 ? (1 + excess) * Math.exp(-excess) : 1;
  const valley = found.reduce((sum, own) => sum + (own.rows / rows) * own.valley, 0);
  return { a, b, rows, chance: Math.min(1, chance), valley };
}

const total = (bins: Uint32Array) => bins.reduce((sum, count) => sum + count, 0);

interface Tube {
  readonly a: number;
  readonly b: number;
  readonly bins: Uint32Array;
}

/**
 * For each pair of neighbours the rows that could be moved along the line between their centroids without leaving the two
 * clusters. They fill a body of constant width: evenly spread rows have a flat histogram there. Long, as it is one loop
 * over pairs and their rows.
 */
function tubesOf(rows: Matrix, centroids: Matrix, shapes: readonly Float64Array[]): Tube[] {
  const { cols } = rows;
  const k = centroids.rows;
  const at = (c: number) => centroids.data.subarray(c * cols, (c + 1) * cols);
  const between = Float64Array.from({ length: k * k }, (_, i) => squaredDistance(at(Math.floor(i / k)), at(i % k)));
  const members: number[][] = Array.from({ length: k }, () => []);
  predict(centroids, rows).forEach((label, r) => {
    members[label].push(r);
  });
  const distances = new Float64Array(rows.rows * k);
  for (let r = 0; r < rows.rows; r++) {
    const row = rows.data.subarray(r * cols, (r + 1) * cols);
    for (let c = 0; c < k; c++) distances[r * k + c] = squaredDistance(row, at(c));
  }
  const tubes: Tube[] = [];
  for (let a = 0; a < k; a++) {
    for (let b = a + 1; b < k; b++) {
      const length = between[a * k + b];
      // The squared distance of another centroid to the middle of the two, less that of the two themselves.
      const beyond = (c: number) => (between[a * k + c] + between[b * k + c] - length) / 2;
      const others = Array.from({ length: k }, (_, c) => c).filter((c) => c !== a && c !== b);
      if (length === 0 || others.some((c) => beyond(c) < -0.1 * length)) continue;
      const across = directionOf(at(a), at(b), meanShape(shapes[a], shapes[b]), members[a].length + members[b].length);
      const near = others.sort((x, y) => beyond(x) - beyond(y)).slice(0, 12);
      // (a - c) times the way from a to b: how fast c gains on a along it.
      const slopes = near.map((c) => (between[b * k + c] - length - between[a * k + c]) / 2);
      const bins = new Uint32Array(BINS);
      for (const r of [...members[a], ...members[b]]) {
        const t = project(rows.data.subarray(r * cols, (r + 1) * cols), at(a), across);
        if (!(t >= FROM && t < TO)) continue;
        const [toA, toB] = [distances[r * k + a], distances[r * k + b]];
        const places = [FROM, TO, t + (toB - toA) / (2 * length)].map((s) => Math.max(FROM, Math.min(TO, s)) - t);
        const isFree = near.every((c, i) =>
          places.every((s) => {
            const fromA = distances[r * k + c] - toA + 2 * s * slopes[i];
            // b gains on a by twice the squared length.
            return fromA >= 0 || fromA >= toB - toA - 2 * s * length;
          }),
        );
        if (isFree) bins[Math.min(BINS - 1, Math.floor(((t - FROM) / (TO - FROM)) * BINS))]++;
      }
      if (total(bins) >= FEWEST) tubes.push({ a, b, bins });
    }
  }
  return tubes;
}

function squaredDistance(x: Float64Array, y: Float64Array): number {
  let sum = 0;
  for (let j = 0; j < x.length; j++) sum += (x[j] - y[j]) ** 2;
  return sum;
}

function project(row: Float64Array, origin: Float64Array, along: Float64Array): number {
  let sum = 0;
  for (let j = 0; j < row.length; j++) sum += along[j] * (row[j] - origin[j]);
  return sum;
}

// The shape of a cluster: the products of its columns, or with many columns only their squares.

function shapesOf(rows: Matrix, centroids: Matrix): Float64Array[] {
  const { cols } = rows;
  const isFull = cols <= MOST_COLUMNS;
  const shapes = Array.from({ length: centroids.rows }, () => new Float64Array(isFull ? cols * cols : cols));
  const counts = new Float64Array(centroids.rows);
  predict(centroids, rows).forEach((label, r) => {
    counts[label]++;
    const shape = shapes[label];
    const away = (j: number) => rows.data[r * cols + j] - centroids.data[label * cols + j];
    for (let i = 0; i < cols; i++) {
      if (!isFull) shape[i] += away(i) ** 2;
      else for (let j = 0; j < cols; j++) shape[i * cols + j] += away(i) * away(j);
    }
  });
  return shapes.map((shape, c) => shape.map((sum) => sum / Math.max(1, counts[c])));
}

const meanShape = (a: Float64Array, b: Float64Array) => a.map((x, i) => (x + b[i]) / 2);

/** The direction in which two clusters of this shape are farthest apart, 1 long from one to the other. */
function directionOf(a: Float64Array, b: Float64Array, shape: Float64Array, rows: number): Float64Array {
  const cols = a.length;
  const delta = b.map((x, j) => x - a[j]);
  const isFull = shape.length > cols || cols === 1;
  const squares = Float64Array.from(delta, (_, j) => shape[isFull ? j * cols + j : j]);
  const floor = 1e-9 * Math.max(...squares, Number.MIN_VALUE);
  const shrunk = rows / (cols + rows);
  const solved = isFull
    ? solve(
        shape.map((x, i) => (i % (cols + 1) === 0 ? Math.max(x, 0) + floor : shrunk * x)),
        delta,
      )
    : delta.map((x, j) => x / (squares[j] + floor));
  const scale = solved.reduce((sum, x, j) => sum + x * delta[j], 0);
  return solved.map((x) => x / scale);
}

/** By Cholesky's factors of a positive definite matrix. */
function solve(given: Float64Array, right: Float64Array): Float64Array {
  const n = right.length;
  const l = given.slice();
  const x = right.slice();
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = l[i * n + j];
      for (let h = 0; h < j; h++) sum -= l[i * n + h] * l[j * n + h];
      l[i * n + j] = i === j ? Math.sqrt(Math.max(sum, 1e-12 * given[i * n + i])) : sum / l[j * n + j];
    }
    for (let j = 0; j < i; j++) x[i] -= l[i * n + j] * x[j];
    x[i] /= l[i * n + i];
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let j = i + 1; j < n; j++) x[i] -= l[j * n + i] * x[j];
    x[i] /= l[i * n + i];
  }
  return x;
}

// The valley of a histogram: how much better two humps describe it than one does.

/** In nats; and the lowest fitted bin between the two peaks over the lower peak. */
function valleyOf(bins: Uint32Array): { gain: number; valley: number } {
  const one = humpOf(bins, 0, BINS);
  const cuts = Array.from({ length: BINS - 1 }, (_, i) => [humpOf(bins, 0, i + 1), humpOf(bins, i + 1, BINS)]);
  const likelihood = ([left, right]: Hump[]) => left.likelihood + right.likelihood;
  const two = cuts.reduce((best, own) => (likelihood(own) > likelihood(best) ? own : best));
  const [left, right] = two.map(({ fitted }) => fitted);
  const [first, second] = [left.lastIndexOf(Math.max(...left)), right.indexOf(Math.max(...right))];
  const lowest = Math.min(...left.slice(first), ...right.slice(0, second + 1));
  const lower = Math.min(left[first], right[second]);
  return { gain: likelihood(two) - one.likelihood, valley: (lowest + 0.5) / (lower + 0.5) };
}

interface Hump {
  readonly likelihood: number;
  readonly fitted: readonly number[];
}

/** The likeliest bins that rise to a peak and fall from it. */
function humpOf(bins: Uint32Array, from: number, to: number): Hump {
  let best: Hump | undefined;
  for (let peak = from; peak < to; peak++) {
    const rising = isotonic(Array.from(bins.subarray(from, peak + 1)));
    const falling = isotonic(Array.from(bins.subarray(peak + 1, to)).reverse()).reverse();
    const fitted = [...rising, ...falling];
    const likelihood = fitted.reduce((sum, own, i) => (own > 0 ? sum + bins[from + i] * Math.log(own) : sum), 0);
    if (best === undefined || likelihood > best.likelihood) best = { likelihood, fitted };
  }
  return best as Hump;
}

/** The nearest rising list: neighbours that fall are pooled. */
function isotonic(values: readonly number[]): number[] {
  const pools: { sum: number; count: number }[] = [];
  for (const sum of values) {
    let last = { sum, count: 1 };
    for (
      let before = pools.at(-1);
      before && before.sum * last.count > last.sum * before.count;
      before = pools.at(-1)
    ) {
      last = { sum: last.sum + before.sum, count: last.count + before.count };
      pools.pop();
    }
    pools.push(last);
  }
  return pools.flatMap(({ sum, count }) => Array<number>(count).fill(sum / count));
}

/**
 * Rings and arcs have valleys between centroids, and none along themselves. Finer cells show it: of all tubes that cross a
 * border of groups, the rows in the middle over those at the ends. Undefined with too few rows to tell.
 */
function acrossBorders(rows: Matrix, labels: Uint32Array, groups: readonly number[], seed: number) {
  const k = Math.floor(Math.min(Math.max(12, 3 * groups.length), rows.rows / 8));
  if (k <= groups.length) return undefined;
  const fine = kmeans(rows, { k, seed }).centroids;
  const owners = Array.from({ length: k }, () => new Float64Array(groups.length));
  predict(fine, rows).forEach((cell, r) => {
    owners[cell][groups[labels[r]]]++;
  });
  const owner = owners.map((own) => own.indexOf(Math.max(...own)));
  const isMixed = owners.map((own, cell) => own[owner[cell]] < 0.8 * own.reduce((sum, count) => sum + count, 0));
  let [middle, ends] = [0, 0];
  for (const { a, b, bins } of tubesOf(rows, fine, shapesOf(rows, fine))) {
    if (owner[a] === owner[b] && !isMixed[a] && !isMixed[b]) continue;
    const inside = total(bins.subarray(BINS / 3, (2 * BINS) / 3));
    middle += inside;
    ends += (total(bins) - inside) / 2;
  }
  if (middle + 2 * ends < 25 || ends === 0) return undefined;
  const ratio = middle / ends;
  return { ratio, error: ratio * Math.sqrt(1 / Math.max(1, middle) + 1 / (2 * ends)) };
}

// Whole numbers, one decimal or 0 and 1 lie on a grid, whose gaps are valleys: such rows are spread over its steps.

/** Finer grids, in deviations, do no harm. */
const FINE = 0.02;

function offGrids(rows: Matrix, scaling: Scaling, seed: number): Matrix {
  const { data, cols } = undoScaling(rows, scaling);
  const random = randomStream(seed);
  for (let c = 0; c < cols; c++) {
    const own = Float64Array.from({ length: rows.rows }, (_, r) => data[r * cols + c]);
    const mean = own.reduce((sum, x) => sum + x, 0) / own.length;
    const deviation = Math.sqrt(own.reduce((sum, x) => sum + (x - mean) ** 2, 0) / own.length);
    const step = gridStep(own);
    if (step > FINE * deviation) for (let r = 0; r < rows.rows; r++) data[r * cols + c] += step * (random() - 0.5);
  }
  const spread = { ...rows, data };
  applyScaling(spread, scaling);
  return spread;
}

/** The greatest step that leads from any value to any other; 0 where they have many decimals. */
function gridStep(values: Float64Array): number {
  const least = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  for (const unit of [1, 10, 100, 1000]) {
    const steps = values.map((x) => (x - least) * unit);
    if (!steps.every((x) => Math.abs(x - Math.round(x)) < 1e-6 && x < 2 ** 40)) continue;
    return steps.reduce((divisor, x) => commonDivisor(divisor, Math.round(x)), 0) / unit;
  }
  return 0;
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}
