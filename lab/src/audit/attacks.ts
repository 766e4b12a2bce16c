// What a lying device sends, from a lie that any machine tells by accident to one that knows all rules and all data.

import { type Matrix, predict } from "@fedkm/core";

/** What a liar knows when it sends to one device. */
interface Victim {
  /** Own points and centroids of the device that is lied to. */
  readonly points: Matrix;
  readonly centroids: Matrix;
  /** What its honest neighbours have. */
  readonly others: readonly Matrix[];
  /** Liars among its neighbours, the sender included. */
  readonly liars: number;
  readonly alpha: number;
  /** The liar's own honest centroids. */
  readonly own: Matrix;
  readonly round: number;
}

export type Attack = (victim: Victim) => Matrix;

const each = (of: Matrix, lie: (x: number, i: number) => number): Matrix => ({ ...of, data: of.data.map(lie) });

const huge: Attack = ({ own }) => each(own, () => 1e6);
const shift: Attack = ({ own }) => each(own, (x) => x + 3);
const flip: Attack = ({ own }) => each(own, (x) => -x);
const collapse: Attack = ({ own }) => each(own, (_, i) => columnMean(own, i % own.cols));

/**
 * Knows every rule of the gate and everybody's data, and sends each device what pulls it farthest, always one way: all
 * clusters at once, from where it would pull no more if it went farther.
 */
const inside: Attack = (victim) => {
  const { centroids } = victim;
  const limits = limitsOf(victim);
  const reach = 0.999 * Math.sqrt(0.45);
  return each(centroids, (x, i) => x + (reach * limits[Math.floor(i / centroids.cols)]) / Math.sqrt(centroids.cols));
};

const kinds = [shift, flip, huge, inside, collapse];
/** Something else in every round. */
const jitter: Attack = (victim) => kinds[victim.round % kinds.length](victim);

export const attacks = { "1e6": huge, "own + (3, 3)": shift, "sign flip": flip, collapse, jitter, inside };

/** How far from each of the victim's centroids the gate begins to shut: see core/src/update/robustPull.ts. */
function limitsOf({ points, centroids, others, liars, alpha }: Victim): number[] {
  const labels = predict(centroids, points);
  const deviation = deviationOf(points, labels, centroids.rows);
  const degree = others.length + liars;
  const voter = (degree - 1) >> 1;
  return Array.from({ length: centroids.rows }, (_, c) => {
    const lengths = others.map((other) => nearestDistance(centroids, c, other)).sort((a, b) => a - b);
    // Liars in the majority decide what is far.
    const far = voter < lengths.length ? 4 * lengths[voter] : 10;
    const count = Math.max(1, labels.filter((label) => label === c).length);
    const harmless = ((5 / degree) * deviation * Math.sqrt(count)) / points.rows;
    return Math.max(far, harmless / (2 * alpha));
  });
}

function nearestDistance({ data, cols }: Matrix, c: number, others: Matrix): number {
  let nearest = Number.POSITIVE_INFINITY;
  for (let other = 0; other < others.rows; other++) {
    let square = 0;
    for (let i = 0; i < cols; i++) square += (data[c * cols + i] - others.data[other * cols + i]) ** 2;
    nearest = Math.min(nearest, square);
  }
  return Math.sqrt(nearest);
}

/** Of the points from the means of their clusters. */
function deviationOf({ data, rows, cols }: Matrix, labels: Uint32Array, k: number): number {
  const counts = new Float64Array(k);
  const sums = new Float64Array(k * cols);
  for (let i = 0; i < data.length; i++) sums[labels[Math.floor(i / cols)] * cols + (i % cols)] += data[i];
  for (const label of labels) counts[label]++;
  let squares = 0;
  for (let i = 0; i < data.length; i++) {
    const label = labels[Math.floor(i / cols)];
    squares += (data[i] - sums[label * cols + (i % cols)] / counts[label]) ** 2;
  }
  return Math.sqrt(squares / (rows - counts.filter((count) => count > 0).length));
}

function columnMean({ data, rows, cols }: Matrix, column: number): number {
  let sum = 0;
  for (let r = 0; r < rows; r++) sum += data[r * cols + column];
  return sum / rows;
}
