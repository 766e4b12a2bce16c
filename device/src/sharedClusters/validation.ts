// How good shared clusters are, from masked sums alone: cost, silhouette, sizes, far rows, whether clusters are apart, and how
// they come out of replicates whose weights are a secret of each device. Replicates begin at cells of the rows, never at the
// answer. Everything here but the weights is a function of its arguments, with the same bits on every device.

import { kmeans, type Matrix, predict, randomStream, simplifiedSilhouette } from "@fedkm/core";
import { type Look, lookIntegerCount, lookIntegers, lookOfAll, shapeLength, verdictOfSums } from "@fedkm/core/choose";
import { hmac } from "@noble/hashes/hmac.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { type Content, stages } from "./generation.ts";
import { clusterIntegers, fractionBits, lloydStep } from "./lloyd.ts";
import { codebookCells } from "./seed.ts";
import { nearest, type SumsShape, sumsBy } from "./shape.ts";

/** Words of the verdict, in this order on the wire; the first: not known. */
const verdicts = ["", "clear", "weak", "none", "too few rows"] as const;

/** A row farther from its centroid than this many times the root mean square of its cluster is far. */
export const FAR = 3;

/** What is known of an answer. Coordinates are scaled and counted from the middle of the bounds, as centroids are. */
export interface Validation {
  /** Rows of each cluster, and the sums of their squared distances. */
  readonly sizes: Float64Array;
  readonly costs: Float64Array;
  /** In the mean over all rows. */
  readonly silhouette: number;
  readonly farRows: number;
  /** Of each feature, over all rows. */
  readonly means: Float64Array;
  readonly spreads: Float64Array;
  readonly verdict: (typeof verdicts)[number];
  /** Of each cluster: how alike it is in replicates, in the mean (Jaccard); then standard errors of its share of the rows and of its centroid. */
  readonly jaccards: Float64Array;
  readonly shareErrors: Float64Array;
  readonly centroidErrors: Float64Array;
}

/** In this order in numbers, behind the centroids. */
function lengthsOf({ k, d }: SumsShape) {
  const clusters = { sizes: k, costs: k };
  const rows = { silhouette: 1, farRows: 1, means: d, spreads: d, verdict: 1 };
  return { ...clusters, ...rows, jaccards: k, shareErrors: k, centroidErrors: k * d };
}

type Field = keyof ReturnType<typeof lengthsOf>;

/** How many numbers an answer has: its centroids and, if it is validated, what is known of it. */
export function answerNumbers(shape: SumsShape): number {
  const { k, d } = shape;
  if (shape.replicates === undefined) return k * d;
  return Object.values(lengthsOf(shape)).reduce((sum, length) => sum + length, k * d);
}

function placeOf(shape: SumsShape, field: Field): [number, number] {
  let from = shape.k * shape.d;
  for (const [name, length] of Object.entries(lengthsOf(shape))) {
    if (name === field) return [from, from + length];
    from += length;
  }
  return [from, from];
}

function withFigures(shape: SumsShape, numbers: Float64Array, figures: Partial<Record<Field, ArrayLike<number>>>) {
  const all = numbers.slice(0, answerNumbers(shape));
  for (const [field, values] of Object.entries(figures)) all.set(Array.from(values), placeOf(shape, field as Field)[0]);
  return all;
}

/** Undefined: the study does not ask for it, or it is not known yet. */
export function readValidation(shape: SumsShape, { stage, numbers }: Pick<Content, "stage" | "numbers">) {
  if (shape.replicates === undefined || stage !== stages.rest) return undefined;
  const of = (field: Field) => numbers.slice(...placeOf(shape, field));
  return {
    ...{ sizes: of("sizes"), costs: of("costs"), silhouette: of("silhouette")[0], farRows: of("farRows")[0] },
    ...{ means: of("means"), spreads: of("spreads"), verdict: verdicts[of("verdict")[0]] ?? "" },
    ...{ jaccards: of("jaccards"), shareErrors: of("shareErrors"), centroidErrors: of("centroidErrors") },
  } satisfies Validation;
}

/**
 * Steps: 0 sums at the centroids; 1 tubes, far rows and cells; 2 the cells again; 3 weighted counts of the cells for each
 * replicate; 4 to 6 steps of the replicates; 7 how they fit the answer.
 */
const CELLS_AGAIN = 2;
const WEIGHTED_CELLS = 3;
const LAST_STEP = 7;
const RESTARTS = 5;

const productsIn = (d: number) => (shapeLength(d) > d ? (d * (d + 1)) / 2 : d);
const shapesIn = ({ k, d }: SumsShape) => k * shapeLength(d);

/** Numbers of a base: the answer as far as it is known, then the shapes of clusters and cells, or the replicates' centroids. */
export function validationNumbers(shape: SumsShape, { steps, rows }: Pick<Content, "steps" | "rows">): number {
  const { k, d, replicates = 0 } = shape;
  const cells = codebookCells(shape, rows) * d;
  const more =
    steps === 0 ? 0 : steps === 1 ? shapesIn(shape) + cells : steps <= WEIGHTED_CELLS ? cells : replicates * k * d;
  return answerNumbers(shape) + more;
}

type Step = Pick<Content, "steps" | "rows" | "numbers">;

export function validationIntegersIn(shape: SumsShape, content: Step): number {
  const { k, d, replicates = 0 } = shape;
  const cells = codebookCells(shape, content.rows);
  switch (content.steps) {
    case 0:
      return 2 * k + 1 + 2 * d + k * productsIn(d);
    case 1:
      return 1 + lookIntegerCount(lookOf(shape, content)) + cells * (d + 1);
    case CELLS_AGAIN:
      return cells * (d + 1);
    case WEIGHTED_CELLS:
      return replicates * cells;
    case LAST_STEP:
      return replicates * k * k;
    default:
      return replicates * k * (d + 1);
  }
}

const centroidsIn = ({ k, d }: SumsShape, numbers: Float64Array): Matrix => ({
  data: numbers.slice(0, k * d),
  rows: k,
  cols: d,
});
const restOf = (shape: SumsShape, { numbers }: Step) => numbers.subarray(answerNumbers(shape));

/** In step 1. */
function lookOf(shape: SumsShape, content: Step): Look {
  const counts = content.numbers.slice(...placeOf(shape, "sizes"));
  const length = shapeLength(shape.d);
  const rest = restOf(shape, content);
  const shapes = Array.from(counts, (_, c) => rest.slice(c * length, (c + 1) * length));
  return lookOfAll(centroidsIn(shape, content.numbers), { shapes, counts });
}

/** Squared distances to the nearest centroid. */
function distancesTo(centroids: Matrix, rows: Matrix, labels: ArrayLike<number>): Float64Array {
  const { cols } = rows;
  return Float64Array.from({ length: rows.rows }, (_, r) => {
    let sum = 0;
    for (let j = 0; j < cols; j++) sum += (rows.data[r * cols + j] - centroids.data[labels[r] * cols + j]) ** 2;
    return sum;
  });
}

/** How many of a device's rows are far from their centroid, by the costs of all. */
export function farRowsOf(
  centroids: Matrix,
  rows: Matrix,
  { sizes, costs }: Pick<Validation, "sizes" | "costs">,
): number {
  const labels = rows.rows === 0 ? [] : predict(centroids, rows);
  const isFar = (distance: number, r: number) => distance > (FAR ** 2 * costs[labels[r]]) / sizes[labels[r]];
  return distancesTo(centroids, rows, labels).filter(isFar).length;
}

/** What a device with these rows adds, before it is masked; `weights`: of its rows in each replicate, one row after the other. */
export function validationIntegers(
  shape: SumsShape,
  content: Content,
  own: Matrix,
  weights: (replicates: number) => Uint8Array,
): Float64Array {
  const { k, d, replicates = 0 } = shape;
  const { steps, rows } = content;
  const cells = codebookCells(shape, rows);
  const rest = restOf(shape, content);
  const all = { points: own, weights: undefined };
  const cellSums = (centres: Float64Array) =>
    clusterIntegers(
      { ...shape, k: cells },
      { ...content, numbers: centres },
      sumsBy(all, cells, (point) => nearest(point, centres)),
    );
  if (steps === 0) return answerSums(shape, content, own);
  if (steps === 1) {
    const centroids = centroidsIn(shape, content.numbers);
    const known = {
      sizes: content.numbers.slice(...placeOf(shape, "sizes")),
      costs: content.numbers.slice(...placeOf(shape, "costs")),
    };
    const far = farRowsOf(centroids, own, known);
    return Float64Array.from([
      far,
      ...lookIntegers(lookOf(shape, content), own),
      ...cellSums(rest.slice(shapesIn(shape))),
    ]);
  }
  if (steps === CELLS_AGAIN) return cellSums(rest.slice());
  const drawn = weights(replicates);
  const out = new Float64Array(validationIntegersIn(shape, content));
  const points = Array.from({ length: own.rows }, (_, r) => own.data.subarray(r * d, (r + 1) * d));
  if (steps === WEIGHTED_CELLS) {
    for (const [r, point] of points.entries()) {
      const cell = nearest(point, rest);
      for (let b = 0; b < replicates; b++) out[b * cells + cell] += drawn[r * replicates + b];
    }
    return out;
  }
  const labels = steps === LAST_STEP && own.rows > 0 ? predict(centroidsIn(shape, content.numbers), own) : [];
  for (let b = 0; b < replicates; b++) {
    const centroids = rest.slice(b * k * d, (b + 1) * k * d);
    const weigh = Float64Array.from(points, (_, r) => drawn[r * replicates + b]);
    if (steps < LAST_STEP) {
      const sums = sumsBy({ points: own, weights: weigh }, k, (point) => nearest(point, centroids));
      out.set(clusterIntegers(shape, { ...content, numbers: centroids }, sums), b * k * (d + 1));
    } else {
      for (const [r, point] of points.entries()) out[(b * k + nearest(point, centroids)) * k + labels[r]] += weigh[r];
    }
  }
  return out;
}

/** Rows and costs of clusters, the silhouette, sums and squares of features, then products in each cluster. */
function answerSums(shape: SumsShape, { numbers, rows }: Content, own: Matrix): Float64Array {
  const { k, d, ranges } = shape;
  const unit = 2 ** fractionBits(rows);
  const centroids = centroidsIn(shape, numbers);
  const labels = own.rows === 0 ? [] : predict(centroids, own);
  const distances = distancesTo(centroids, own, labels);
  const products = productsIn(d);
  const [counts, costs, columns] = [new Float64Array(k), new Float64Array(k), new Float64Array(2 * d)];
  const shapes = new Float64Array(k * products);
  const away = new Float64Array(d);
  for (let r = 0; r < own.rows; r++) {
    const c = labels[r];
    counts[c]++;
    costs[c] += distances[r];
    for (let j = 0; j < d; j++) {
      const share = own.data[r * d + j] / ranges[j];
      columns[j] += share;
      columns[d + j] += share ** 2;
      away[j] = (own.data[r * d + j] - centroids.data[c * d + j]) / ranges[j];
    }
    let at = c * products;
    for (let i = 0; i < d; i++) {
      if (products === d) shapes[at++] += away[i] ** 2;
      else for (let j = i; j < d; j++) shapes[at++] += away[i] * away[j];
    }
  }
  const silhouette = own.rows === 0 || k === 1 ? 0 : own.rows * simplifiedSilhouette(own, centroids);
  const whole = (value: number) => Math.round(value * unit);
  return Float64Array.from([
    ...counts,
    ...costs.map((cost) => whole(cost / boxOf(shape))),
    whole(silhouette),
    ...columns.map(whole),
    ...shapes.map(whole),
  ]);
}

/** The largest squared distance within the bounds. */
const boxOf = ({ ranges }: SumsShape) => ranges.reduce((sum, range) => sum + range ** 2, 0);

/** Why no rows of this many devices have such sums; undefined: some may. */
export function validationFault(
  shape: SumsShape,
  content: Content,
  integers: Float64Array,
  mostRows: number,
): string | undefined {
  const { steps } = content;
  if (steps > 0) {
    const isCount = steps === WEIGHTED_CELLS || steps === LAST_STEP;
    return isCount && integers.some((count) => count < 0) ? "a negative number of rows" : undefined;
  }
  const counts = integers.subarray(0, shape.k);
  if (integers.subarray(0, 2 * shape.k + 1).some((sum) => sum < 0)) return "a negative number of rows";
  const rows = counts.reduce((sum, count) => sum + count, 0);
  return rows > mostRows ? `${rows} rows where ${mostRows} are allowed` : undefined;
}

/** What follows from the sums of all devices: the next step, or the answer with all that is known of it. */
export function afterValidation(shape: SumsShape, content: Content, totals: Float64Array, devices: number): Content {
  const { k, d, replicates = 0 } = shape;
  const { steps, rows, numbers } = content;
  const cells = codebookCells(shape, rows);
  const rest = restOf(shape, content);
  const answer = numbers.slice(0, answerNumbers(shape));
  const next = (...parts: Float64Array[]): Content => ({
    ...content,
    steps: steps + 1,
    numbers: Float64Array.from(parts.flatMap((part) => Array.from(part))),
  });
  const movedCells = (centres: Float64Array, sums: Float64Array) => {
    const moved = lloydStep({ ...shape, k: cells }, { ...content, numbers: centres }, sums, devices);
    return typeof moved === "string" ? centres : moved.numbers;
  };
  if (steps === 0) return afterAnswerSums(shape, content, totals, next);
  if (steps === 1) {
    const look = lookOf(shape, content);
    const many = lookIntegerCount(look);
    const word = verdictOfSums(look, numbers.slice(...placeOf(shape, "sizes")), totals.slice(1, 1 + many));
    const known = withFigures(shape, answer, { farRows: [totals[0]], verdict: [verdicts.indexOf(word)] });
    if (replicates === 0) return { ...content, stage: stages.rest, numbers: known };
    return next(known, movedCells(rest.slice(shapesIn(shape)), totals.slice(1 + many)));
  }
  if (steps === CELLS_AGAIN) return next(answer, movedCells(rest.slice(), totals));
  if (steps === WEIGHTED_CELLS) {
    const starts = Array.from({ length: replicates }, (_, b) =>
      clustersOfCells(shape, rest, totals.subarray(b * cells, (b + 1) * cells), b),
    );
    return next(answer, ...starts);
  }
  const replicateOf = (b: number) => rest.slice(b * k * d, (b + 1) * k * d);
  if (steps < LAST_STEP) {
    const moved = Array.from({ length: replicates }, (_, b) => {
      const sums = totals.slice(b * k * (d + 1), (b + 1) * k * (d + 1));
      const found = lloydStep(shape, { ...content, numbers: replicateOf(b) }, sums, devices);
      return typeof found === "string" ? replicateOf(b) : found.numbers;
    });
    return next(answer, ...moved);
  }
  const figures = stabilityOf(shape, totals, replicateOf);
  return { ...content, stage: stages.rest, numbers: withFigures(shape, answer, figures) };
}

function afterAnswerSums(
  shape: SumsShape,
  { numbers, rows }: Content,
  totals: Float64Array,
  next: (...parts: Float64Array[]) => Content,
): Content {
  const { k, d, ranges } = shape;
  const unit = 2 ** -fractionBits(rows);
  const sizes = totals.slice(0, k);
  const all = Math.max(
    1,
    sizes.reduce((sum, size) => sum + size, 0),
  );
  const costs = totals.slice(k, 2 * k).map((cost) => cost * unit * boxOf(shape));
  const columns = totals.slice(2 * k + 1, 2 * k + 1 + 2 * d).map((sum) => (sum * unit) / all);
  const means = ranges.map((range, j) => columns[j] * range);
  const spreads = ranges.map((range, j) => range * Math.sqrt(Math.max(0, columns[d + j] - columns[j] ** 2)));
  const answer = withFigures(
    shape,
    Float64Array.from([...numbers.slice(0, k * d), ...new Array<number>(answerNumbers(shape) - k * d).fill(0)]),
    {
      ...{ sizes, costs, means, spreads },
      silhouette: [(totals[2 * k] * unit) / all],
    },
  );
  const products = totals.slice(2 * k + 1 + 2 * d).map((sum) => sum * unit);
  const shapes = new Float64Array(shapesIn(shape));
  const length = shapeLength(d);
  for (let c = 0, at = 0; c < k; c++) {
    for (let i = 0; i < d; i++) {
      for (let j = i; j < (length === d ? i + 1 : d); j++) {
        const mean = (products[at++] / Math.max(1, sizes[c])) * ranges[i] * ranges[j];
        const own = length === d && d > 1 ? [i] : [i * d + j, j * d + i];
        for (const place of own) shapes[c * length + place] = mean;
      }
    }
  }
  return next(answer, shapes, firstCells(shape, numbers, rows, sizes, shapes));
}

/** Where cells of the rows begin: spread around each centroid as its rows are, as many as it has rows. */
function firstCells(
  shape: SumsShape,
  numbers: Float64Array,
  rows: number,
  sizes: Float64Array,
  shapes: Float64Array,
): Float64Array {
  const { k, d, ranges } = shape;
  const random = randomStream(0, "validation cells");
  const many = codebookCells(shape, rows);
  const length = shapeLength(d);
  const all = sizes.reduce((sum, size) => sum + size, 0);
  let [c, reached] = [0, sizes[0] ?? 0];
  return Float64Array.from(
    Array.from({ length: many }, (_, cell) => {
      while (c < k - 1 && reached < ((cell + 0.5) / many) * all) reached += sizes[++c];
      return Array.from({ length: d }, (_, j) => {
        const variance = shapes[c * length + (length === d && d > 1 ? j : j * d + j)];
        const value = numbers[c * d + j] + Math.sqrt(3 * variance) * (2 * random() - 1);
        return Math.min(ranges[j] / 2, Math.max(-ranges[j] / 2, value));
      });
    }).flat(),
  );
}

/** k-means on cells with the weights of one replicate, best of a few starts of its own. */
function clustersOfCells(
  { k, d }: SumsShape,
  centres: Float64Array,
  weights: Float64Array,
  replicate: number,
): Float64Array {
  const used = Array.from(weights.keys()).filter((c) => weights[c] > 0);
  // Fewer cells than clusters: some begin at one place and stay without rows.
  while (used.length < k) used.push(used[0] ?? 0);
  const data = Float64Array.from(used.flatMap((c) => Array.from(centres.subarray(c * d, (c + 1) * d))));
  const given = used.map((c) => Math.max(1, weights[c]));
  return kmeans({ data, rows: used.length, cols: d }, { k, weights: given, restarts: RESTARTS, seed: 1 + replicate })
    .centroids.data;
}

/** Jaccard indices and standard errors, from how many weighted rows each replicate and the answer have in common. */
function stabilityOf(
  { k, d, replicates = 0 }: SumsShape,
  totals: Float64Array,
  replicateOf: (b: number) => Float64Array,
) {
  const jaccards = new Float64Array(k);
  const shares: number[][] = Array.from({ length: k }, () => []);
  const places: Float64Array[][] = Array.from({ length: k }, () => []);
  for (let b = 0; b < replicates; b++) {
    const table = totals.subarray(b * k * k, (b + 1) * k * k);
    const all = table.reduce((sum, weight) => sum + weight, 0);
    const own = Array.from({ length: k }, (_, r) => table.subarray(r * k, (r + 1) * k).reduce((sum, w) => sum + w, 0));
    for (let c = 0; c < k; c++) {
      const size = own.reduce((sum, _, r) => sum + table[r * k + c], 0);
      const alike = own.map((rows, r) => table[r * k + c] / Math.max(1, rows + size - table[r * k + c]));
      const best = alike.indexOf(Math.max(...alike));
      jaccards[c] += alike[best] / replicates;
      shares[c].push(own[best] / Math.max(1, all));
      places[c].push(replicateOf(b).subarray(best * d, (best + 1) * d));
    }
  }
  const centroidErrors = places.flatMap((own) =>
    Array.from({ length: d }, (_, j) => deviation(own.map((at) => at[j]))),
  );
  return { jaccards, shareErrors: shares.map(deviation), centroidErrors };
}

function deviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value / values.length, 0);
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return values.length < 2 ? 0 : Math.sqrt(squares / (values.length - 1));
}

// Weights of rows in replicates: a Poisson number of mean 1 each, which only who has the key can compute. From weights
// that others know, as many replicates as rows would give every row away.

const WORDS = 16;
/** Chances of 0, 0 or 1, and so on, in units of 2^-32. */
const POISSON = [
  0.36787944117144233, 0.7357588823428847, 0.9196986029286058, 0.9810118431238462, 0.9963401531726563,
  0.9994058151824183, 0.9999167588507119, 0.9999897508033253,
].map((share) => share * 2 ** 32);

/** Of so many rows, for each replicate: one row after the other. */
export function replicateWeights(key: Uint8Array, rows: number, replicates: number): Uint8Array {
  const weights = new Uint8Array(rows * replicates);
  const text = new Uint8Array(8);
  const view = new DataView(text.buffer);
  for (let r = 0; r < rows; r++) {
    view.setUint32(0, r);
    for (let block = 0; block * WORDS < replicates; block++) {
      view.setUint32(4, block);
      const words = new DataView(hmac(sha512, key, text).buffer);
      for (let w = 0; w < WORDS && block * WORDS + w < replicates; w++) {
        const chance = words.getUint32(4 * w);
        const at = POISSON.findIndex((bound) => chance < bound);
        weights[r * replicates + block * WORDS + w] = at < 0 ? POISSON.length : at;
      }
    }
  }
  return weights;
}
