// Data to try things on: the paper's three sets, and ways to deal points to devices. Same seed, same bytes, everywhere.

import { checkArray, checkInteger, checkMatrix, checkNumber, checkNumbers, checkOneOf, checkSeed } from "./check.ts";
import { type Matrix, squaredDistance, takeRows } from "./matrix.ts";
import { dirichlet, normalStream, type Random, randomStream, shuffled } from "./random.ts";

/** Points with the cluster that each was drawn from. */
export interface LabelledPoints {
  readonly points: Matrix;
  readonly labels: Uint32Array;
}

/** The same, dealt to devices. */
export interface Partition {
  readonly datasets: readonly Matrix[];
  readonly labels: readonly Uint32Array[];
}

/** iso: round clusters of sigma 1. var: sigma 1, 2.5 and 0.5. aniso: iso, sheared. */
export type PaperKind = "iso" | "var" | "aniso";

const spreads: Record<PaperKind, readonly number[]> = { iso: [1, 1, 1], var: [1, 2.5, 0.5], aniso: [1, 1, 1] };

/**
 * Where the paper can be read in two ways, the other one. variance: the numbers of var are variances, here they are
 * standard deviations. after: centroids of aniso are 5 apart after the shear, here before it.
 */
export type PaperReading = "variance" | "after";

/**
 * The paper's data: three clusters in the plane, centroids in [-10, 10]^2 at least 5 apart, dealt evenly.
 * @example paperData("iso", 4, 30, 1).datasets.map(({ rows }) => rows) // [30, 30, 30, 30]
 */
export function paperData(
  kind: PaperKind,
  devices: number,
  pointsPerDevice: number,
  seed: number,
  reading?: PaperReading,
): Partition {
  checkDeal(devices, pointsPerDevice, seed);
  checkOneOf("kind", kind, ["iso", "var", "aniso"]);
  if (reading !== undefined) checkOneOf("reading", reading, ["variance", "after"]);
  const random = randomStream(seed, "data", kind);
  const centroids = drawCentroids(random, kind === "aniso" && reading === "after" ? sheared : (x, y) => [x, y]);
  const spread = spreads[kind].map((sigma) => (reading === "variance" ? Math.sqrt(sigma) : sigma));
  const drawn = drawPaper(kind, devices * pointsPerDevice, centroids, random, spread);
  return dealInTurn(drawn, evenSizes(drawn, devices), seed);
}

/**
 * Two communities of devices, each with its own three clusters (sigma 1): the second's centroids are the first's, moved
 * by `shift` in every coordinate. The devices of the first community come first.
 * @example communityData(2, 60, 1).datasets.length // 4
 */
export function communityData(devicesEach: number, pointsPerDevice: number, seed: number, shift = 15): Partition {
  checkDeal(devicesEach, pointsPerDevice, seed);
  checkNumber("shift", shift, () => true, "a finite number");
  const random = randomStream(seed, "data", "communities");
  const centroids = drawCentroids(random);
  const halves = [0, shift].map((moved, half) => {
    const around = centroids.map((x) => x + moved);
    const drawn = drawPaper("iso", devicesEach * pointsPerDevice, around, random);
    const split = dealInTurn(drawn, evenSizes(drawn, devicesEach), seed + half);
    return { ...split, labels: split.labels.map((own) => own.map((label) => label + 3 * half)) };
  });
  return { datasets: halves.flatMap(({ datasets }) => datasets), labels: halves.flatMap(({ labels }) => labels) };
}

/**
 * All points in random order, dealt to the devices in equal shares; the first get one more where it does not divide.
 * @example
 * const drawn = { points: matrix([[1], [2], [3]]), labels: Uint32Array.of(0, 0, 1) };
 * splitEvenly(drawn, 2, 1).datasets.map(({ rows }) => rows) // [2, 1]
 */
export function splitEvenly(drawn: LabelledPoints, devices: number, seed: number): Partition {
  checkInteger("devices", devices, 1);
  checkDrawn(drawn, seed);
  return dealInTurn(drawn, evenSizes(drawn, devices), seed);
}

function evenSizes({ points: { rows } }: LabelledPoints, devices: number): number[] {
  return Array.from({ length: devices }, (_, i) => Math.floor(rows / devices) + (i < rows % devices ? 1 : 0));
}

/**
 * All points in random order, sizes[i] of them to device i; 0 is allowed.
 * @example
 * const drawn = { points: matrix([[1], [2], [3]]), labels: Uint32Array.of(0, 0, 1) };
 * splitBySizes(drawn, [1, 2], 1).datasets.map(({ rows }) => rows) // [1, 2]
 */
export function splitBySizes(drawn: LabelledPoints, sizes: readonly number[], seed: number): Partition {
  checkDrawn(drawn, seed);
  checkArray("sizes", sizes, "numbers, one for each device");
  for (const [i, size] of sizes.entries()) checkInteger(`sizes[${i}]`, size, 0);
  const wanted = sizes.reduce((a, b) => a + b, 0);
  if (wanted !== drawn.points.rows) {
    throw new RangeError(`sizes must add up to ${drawn.points.rows} (the rows of points), got ${wanted}`);
  }
  return dealInTurn(drawn, sizes, seed);
}

function dealInTurn(drawn: LabelledPoints, sizes: readonly number[], seed: number): Partition {
  const order = shuffled(drawn.points.rows, randomStream(seed, "split"));
  let end = 0;
  const rows = sizes.map((size) => {
    end += size;
    return order.subarray(end - size, end);
  });
  return deal(drawn, rows);
}

/**
 * Label skew: the points of each cluster go to the devices in shares drawn from a symmetric Dirichlet distribution.
 * Small concentrations give each cluster to few devices, large ones deal evenly. A device may end up without points.
 * @example
 * const drawn = { points: matrix([[1], [2], [3]]), labels: Uint32Array.of(0, 0, 1) };
 * splitByLabel(drawn, 2, 0.5, 1).datasets.map(({ rows }) => rows) // [0, 3]
 */
export function splitByLabel(drawn: LabelledPoints, devices: number, concentration: number, seed: number): Partition {
  checkDrawn(drawn, seed);
  checkInteger("devices", devices, 1);
  checkNumber("concentration", concentration, (value) => value > 0, "a finite number above 0");
  const random = randomStream(seed, "split", "label");
  const rows = Array.from({ length: devices }, (): number[] => []);
  for (const members of shuffledByLabel(drawn, random)) {
    const shares = dirichlet(devices, concentration, random);
    let reached = 0;
    let from = 0;
    for (let i = 0; i < devices; i++) {
      reached += shares[i];
      // The last device takes what rounding leaves.
      const to = i === devices - 1 ? members.length : Math.round(reached * members.length);
      for (; from < to; from++) rows[i].push(members[from]);
    }
  }
  return deal(drawn, rows);
}

/**
 * Devices that miss clusters: each holds `classes` of them, the next ones in turn, and every cluster is dealt evenly to the
 * devices that hold it.
 * @example
 * const drawn = { points: matrix([[1], [2], [3]]), labels: Uint32Array.of(0, 0, 1) };
 * splitByClasses(drawn, 2, 1, 1).datasets.map(({ rows }) => rows) // [2, 1]
 */
export function splitByClasses(drawn: LabelledPoints, devices: number, classes: number, seed: number): Partition {
  checkDrawn(drawn, seed);
  checkInteger("devices", devices, 1);
  const byLabel = shuffledByLabel(drawn, randomStream(seed, "split", "classes"));
  const { length } = byLabel;
  checkInteger("classes", classes, Math.min(length, Math.ceil(length / devices)), length);
  const holders = byLabel.map((): number[] => []);
  for (let held = 0; held < devices * classes; held++) holders[held % length].push(Math.floor(held / classes));
  const rows = Array.from({ length: devices }, (): number[] => []);
  byLabel.forEach((members, c) => {
    members.forEach((row, at) => {
      rows[holders[c][at % holders[c].length]].push(row);
    });
  });
  return deal(drawn, rows);
}

/** The rows of every label, the labels rising, the rows in random order. */
function shuffledByLabel({ points, labels }: LabelledPoints, random: Random): Uint32Array[] {
  const order = shuffled(points.rows, random);
  return [...new Set(labels)].sort((a, b) => a - b).map((label) => order.filter((row) => labels[row] === label));
}

function deal({ points, labels }: LabelledPoints, rows: readonly ArrayLike<number>[]): Partition {
  return {
    datasets: rows.map((own) => takeRows(points, own)),
    labels: rows.map((own) => Uint32Array.from(own, (row) => labels[row])),
  };
}

/** Three centroids in [-10, 10]^2, redrawn until all are at least 5 apart. */
function drawCentroids(random: Random, seen: typeof sheared = (x, y) => [x, y]): Float64Array {
  for (;;) {
    const centroids = Float64Array.from({ length: 6 }, () => 20 * random() - 10);
    const places = Float64Array.from([0, 2, 4].flatMap((at) => seen(centroids[at], centroids[at + 1])));
    const apart = (a: number, b: number) => squaredDistance(places, 2 * a, places, 2 * b, 2) >= 25;
    if (apart(0, 1) && apart(0, 2) && apart(1, 2)) return centroids;
  }
}

/** A row times [[0.6, -0.6], [-0.4, 0.8]]. */
function sheared(x: number, y: number): [number, number] {
  return [0.6 * x - 0.4 * y, -0.6 * x + 0.8 * y];
}

function drawPaper(
  kind: PaperKind,
  rows: number,
  centroids: Float64Array,
  random: Random,
  spread = spreads[kind],
): LabelledPoints {
  const normal = normalStream(random);
  const data = new Float64Array(2 * rows);
  const labels = new Uint32Array(rows);
  for (let r = 0; r < rows; r++) {
    const label = r % 3;
    const x = centroids[2 * label] + spread[label] * normal();
    const y = centroids[2 * label + 1] + spread[label] * normal();
    labels[r] = label;
    // Centroids included.
    data.set(kind === "aniso" ? sheared(x, y) : [x, y], 2 * r);
  }
  return { points: { data, rows, cols: 2 }, labels };
}

function checkDeal(devices: number, pointsPerDevice: number, seed: number): void {
  checkInteger("devices", devices, 1);
  checkInteger("pointsPerDevice", pointsPerDevice, 1);
  checkSeed(seed);
}

function checkDrawn(drawn: LabelledPoints, seed: number): void {
  const { points, labels } = drawn ?? {};
  checkMatrix("points", points);
  checkNumbers("labels", labels);
  if (labels.length !== points.rows) {
    throw new RangeError(`labels must have ${points.rows} numbers (the rows of points), got ${labels.length}`);
  }
  checkSeed(seed);
}
