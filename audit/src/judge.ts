// The judge knows the truth: whether what an attacker computed is so, and to how many digits; and what the strongest reader
// of sums could isolate, who is told who was in every published group.

import { type Matrix, predict, randomStream } from "@fedkm/core";
import type { Study } from "@fedkm/device";
import { type DeviceSketch, decodeHistory, dividedByScale, openingSketchCentroids } from "@fedkm/device/inspect";
import {
  type ClusterSnapshot,
  inversionReadings,
  inversionSnapshots,
  inversionSums,
  type PublicRules,
} from "./inversion.ts";
import type { ObservedMessage } from "./observation.ts";
import type { Attack, Outcome } from "./outcome.ts";
import { type RowClaim, rowClaims } from "./rowTracking.ts";

// The strongest linear attacker: it knows who was in every published group, and adds and subtracts their sums at will.

/** A published group: the numbers of the rows in it. */
export type PublishedGroup = readonly number[];

interface Isolation {
  /** Rows that some combination of the published sums gives exactly. */
  readonly rows: readonly number[];
  /** The fewest rows of a combination of the sums that a search has found. */
  readonly smallestClass: number;
}

/** A row is found where its share of the space that the sums span is the whole of it. */
const WHOLE = 1 - 1e-9;

export function isolatedRows(groups: readonly PublishedGroup[]): Isolation {
  const classes = classesTold(groups);
  if (classes.length === 0) return { rows: [], smallestClass: Number.POSITIVE_INFINITY };
  const place = new Map(classes.flatMap((rows, c) => rows.map((row) => [row, c] as const)));
  const vectors = new Map<string, Float64Array>();
  for (const group of groups) {
    const vector = new Float64Array(classes.length);
    for (const row of group) vector[place.get(row) as number] = 1;
    vectors.set(vector.join(""), vector);
  }
  const found = spannedUnits([...vectors.values()], classes.length);
  return {
    rows: found.flatMap((c) => (classes[c].length === 1 ? classes[c] : [])),
    smallestClass: lightestCombination(
      [...vectors.values()],
      classes.map(({ length }) => length),
    ),
  };
}

/** Of the search for combinations of few rows: forms with the classes in random order, and the lightest ones that are paired. */
const FORMS = 12;
const PAIRED = 40;
/** Products of two numbers below it are exact. */
const PRIME = 67_108_859;

/**
 * The fewest rows that a combination of these sums has, as far as a search finds it: rows that come back are in several
 * classes, so that single rows may be a class of their own though no combination gives them. Modulo a prime.
 */
function lightestCombination(vectors: readonly Float64Array[], sizes: readonly number[]): number {
  const weightOf = (vector: Float64Array) => vector.reduce((sum, x, c) => sum + (x === 0 ? 0 : sizes[c]), 0);
  const random = randomStream(vectors.length, "light");
  const found = Array.from({ length: FORMS }, () => {
    const order = sizes.map((_, c) => ({ c, at: random() })).sort((a, b) => a.at - b.at);
    return reducedForm(
      vectors,
      order.map(({ c }) => c),
    );
  }).flat();
  const light = found
    .map((vector) => ({ vector, weight: weightOf(vector) }))
    .sort((a, b) => a.weight - b.weight)
    .slice(0, PAIRED);
  let least = light[0]?.weight ?? Number.POSITIVE_INFINITY;
  for (const [n, { vector: a }] of light.entries()) {
    for (const { vector: b } of light.slice(n + 1)) {
      const c = a.findIndex((x, i) => x !== 0 && b[i] !== 0);
      if (c < 0) continue;
      const weight = weightOf(eliminated(a, b, c));
      if (weight > 0) least = Math.min(least, weight);
    }
  }
  return least;
}

/** The reduced row echelon form, its pivots sought in this order of columns. */
function reducedForm(vectors: readonly Float64Array[], order: readonly number[]): Float64Array[] {
  let left = [...vectors];
  let basis: Float64Array[] = [];
  for (const column of order) {
    const pivot = left.find((vector) => vector[column] !== 0);
    if (pivot === undefined) continue;
    const clear = (vector: Float64Array) => (vector[column] === 0 ? vector : eliminated(vector, pivot, column));
    left = left.filter((vector) => vector !== pivot).map(clear);
    basis = [...basis.map(clear), pivot];
  }
  return basis;
}

/** `vector` with as much of `by` taken away that this column is 0. */
function eliminated(vector: Float64Array, by: Float64Array, column: number): Float64Array {
  const times = PRIME - ((vector[column] * inverse(by[column])) % PRIME);
  return vector.map((x, i) => (x + times * by[i]) % PRIME);
}

function inverse(x: number): number {
  let [result, base] = [1, x];
  for (let power = PRIME - 2; power > 0; power = Math.floor(power / 2)) {
    if (power % 2 === 1) result = (result * base) % PRIME;
    base = (base * base) % PRIME;
  }
  return result;
}

/** Rows that were in the same groups all along. */
function classesTold(groups: readonly PublishedGroup[]): number[][] {
  const histories = new Map<number, string>();
  groups.forEach((group, g) => {
    for (const row of group) histories.set(row, `${histories.get(row) ?? ""} ${g}`);
  });
  const classes = new Map<string, number[]>();
  for (const [row, history] of histories) {
    const known = classes.get(history);
    if (known === undefined) classes.set(history, [row]);
    else known.push(row);
  }
  return [...classes.values()];
}

/** Which unit vectors are combinations of the vectors. */
function spannedUnits(vectors: readonly Float64Array[], size: number): number[] {
  const basis: Float64Array[] = [];
  for (const vector of vectors) {
    if (basis.length === size) break;
    const rest = vector.slice();
    // Twice, because the first time leaves rounding behind.
    for (let time = 0; time < 2; time++) for (const known of basis) subtract(rest, known, dot(rest, known));
    const length = Math.hypot(...rest);
    if (length > 1e-6) basis.push(rest.map((x) => x / length));
  }
  return Array.from({ length: size }, (_, c) => c).filter(
    (c) => basis.reduce((sum, known) => sum + known[c] ** 2, 0) >= WHOLE,
  );
}

function subtract(/* IN OUT */ from: Float64Array, vector: Float64Array, times: number): void {
  for (let i = 0; i < from.length; i++) from[i] -= times * vector[i];
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/** In the scaled units of the study; undefined where nothing is guarded. */
export function judgedRows(
  study: Study,
  history: Uint8Array | undefined,
): { readonly points: Matrix; readonly classes: ArrayLike<number> } | undefined {
  if (study.privacy !== "guarded" || history === undefined) return undefined;
  const decoded = decodeHistory(
    history,
    study.features.map(({ name }) => name),
  );
  if (decoded === undefined) return undefined;
  const { rows, classes } = decoded.counted;
  return { points: dividedByScale(study, rows), classes: classes.ids };
}

/** Rows in the scaled units of the study, and the ranges of the features in them. */
export interface Truth {
  readonly points: Matrix;
  readonly ranges: Float64Array;
  /** Where rows are guarded: the class of each. Rows of one class have one label. */
  readonly classes?: ArrayLike<number> | undefined;
}

/** Shares of a feature's range. A claim is right below the first, or within its own error if that is below the second. */
const RIGHT = 1e-6;
const MOST_ERROR = 1e-3;

/** The distance of a claim from the nearest true row; undefined: it is no row, or too rough to be one. */
function rowError(
  { values, error }: Pick<RowClaim, "values" | "error">,
  { points, ranges }: Truth,
): number | undefined {
  const { data, rows, cols } = points;
  let least = Number.POSITIVE_INFINITY;
  for (let r = 0; r < rows; r++) {
    let most = 0;
    for (let d = 0; d < cols; d++) most = Math.max(most, Math.abs(data[r * cols + d] - values[d]) / ranges[d]);
    least = Math.min(least, most);
  }
  return least <= allowedError(error, ranges) ? least : undefined;
}

/** The largest error of a cluster's mean in a snapshot; undefined: some share or mean is wrong. */
function groupsError(snapshot: ClusterSnapshot, message: ObservedMessage, truth: Truth): number | undefined {
  const { points, ranges, classes } = truth;
  const allowed = allowedError(snapshot.error / Math.min(...snapshot.counts), ranges);
  for (const labels of labelsOf(message, points, classes)) {
    const { counts, sums } = countedSums(labels, points, snapshot.counts.length);
    const isShared = counts.every((count, c) => count * snapshot.rows === snapshot.counts[c] * points.rows);
    const errors = sums.flatMap((sum, c) =>
      Array.from(sum, (x, d) => Math.abs(snapshot.sums[c][d] / snapshot.counts[c] - x / counts[c]) / ranges[d]),
    );
    if (isShared && Math.max(...errors) <= allowed) return Math.max(...errors);
  }
  return undefined;
}

/** Of a claim whose coordinates can be off by `error`. Rows are dense: where much is allowed, chance finds one. */
function allowedError(error: number, ranges: Float64Array): number {
  const allowed = Math.max(RIGHT, (2 * error) / Math.min(...ranges));
  return allowed <= MOST_ERROR ? allowed : -1;
}

/** The largest error of centroids as means of the rows nearest to them; undefined: they are not. */
function meansError(centroids: Matrix, { points, ranges }: Truth): number | undefined {
  const { counts, sums } = countedSums(predict(centroids, points), points, centroids.rows);
  const { cols } = centroids;
  const errors = sums.flatMap((sum, c) =>
    Array.from(sum, (x, d) => Math.abs(x / counts[c] - centroids.data[c * cols + d]) / ranges[d]),
  );
  const most = Math.max(...errors);
  return most <= MOST_ERROR ? most : undefined;
}

/** Labels that a message can rest on: at the centroids before it, or at its own. */
function labelsOf({ before, centroids }: ObservedMessage, points: Matrix, classes?: ArrayLike<number>): Uint32Array[] {
  const nearest = [before, centroids].flatMap((at) => (at === undefined ? [] : [predict(at, points)]));
  if (classes === undefined) return nearest;
  return classes.length === points.rows ? nearest.map((labels) => withinClasses(labels, classes, centroids.rows)) : [];
}

function countedSums(labels: Uint32Array, { data, cols }: Matrix, k: number) {
  const counts = new Array<number>(k).fill(0);
  const sums = Array.from({ length: k }, () => new Float64Array(cols));
  labels.forEach((label, r) => {
    counts[label]++;
    for (let d = 0; d < cols; d++) sums[label][d] += data[r * cols + d];
  });
  return { counts, sums };
}

/**
 * The groups that a message published: labels from which (M) gives its centroids. undefined: no labels that come to mind
 * explain the message.
 */
export function judgedGroups(
  message: ObservedMessage,
  { points, classes }: Pick<Truth, "points" | "classes">,
  rules: PublicRules,
): PublishedGroup[] | undefined {
  const k = message.centroids.rows;
  const readings = inversionReadings(message, rules);
  for (const labels of labelsOf(message, points, classes)) {
    const { counts, sums } = countedSums(labels, points, k);
    const unit = rules.typicalRows ?? points.rows;
    const isExplained = readings.some((equations) => {
      const found = inversionSums(equations, counts, unit, rules.grain);
      return found.sums.every((sum, c) => sum.every((x, d) => Math.abs(x - sums[c][d]) <= 4 * found.error));
    });
    if (!isExplained) continue;
    const groups: number[][] = Array.from({ length: k }, () => []);
    labels.forEach((label, r) => {
      groups[label].push(r);
    });
    return groups.filter(({ length }) => length > 0);
  }
  return undefined;
}

/** Every row gets the label that most rows of its class have. */
function withinClasses(labels: Uint32Array, classes: ArrayLike<number>, k: number): Uint32Array {
  const votes = new Map<number, Uint32Array>();
  labels.forEach((label, r) => {
    const known = votes.get(classes[r]) ?? new Uint32Array(k);
    known[label]++;
    votes.set(classes[r], known);
  });
  return labels.map((_, r) => {
    const counts = votes.get(classes[r]) as Uint32Array;
    return counts.indexOf(Math.max(...counts));
  });
}

// Outcomes of attacks that read: what neighbours computed from messages, held against the truth.

interface Reconstruction {
  readonly messages: readonly ObservedMessage[];
  readonly snapshots: readonly ClusterSnapshot[];
  readonly claims: readonly RowClaim[];
}

/** `least`: a device of fewer rows sends nothing. */
export function reconstruct(messages: readonly ObservedMessage[], rules: PublicRules, least: number): Reconstruction {
  const snapshots = inversionSnapshots(messages, rules);
  return { messages, snapshots, claims: rowClaims(messages, snapshots, rules, least) };
}

/** Of the means that were found, the least error. */
export function groupsFound(
  { messages, snapshots }: Pick<Reconstruction, "messages" | "snapshots">,
  truth: Truth,
): number | undefined {
  const errors = snapshots.flatMap((snapshot) => groupsError(snapshot, messages[snapshot.message], truth) ?? []);
  return errors.length > 0 ? Math.min(...errors) : undefined;
}

export function rowsOutcome(
  attack: Attack,
  claims: readonly Pick<RowClaim, "values" | "error">[],
  truth: Truth,
): Outcome {
  const errors = claims.map((claim) => rowError(claim, truth));
  const right = errors.filter((error) => error !== undefined);
  return {
    attack,
    rows: right.length,
    wrong: errors.length - right.length,
    ...(right.length > 0 ? { rowError: Math.min(...right) } : {}),
  };
}

/** What every device of the network is sent of a device's own clusters, the first sketch of it on the rows of `truth`. */
export function sketchesOutcome(sketches: readonly DeviceSketch[], truth: Truth, everyRow: Truth): Outcome {
  const given = sketches.map(openingSketchCentroids);
  const claims = given.flatMap(({ data, rows, cols }) =>
    Array.from({ length: rows }, (_, c) => ({ values: data.slice(c * cols, (c + 1) * cols), error: 0 })),
  );
  const groups = given.length > 0 ? meansError(given[0], truth) : undefined;
  // A mean is not meant to be a row, so one that is none is not a wrong claim.
  return { ...rowsOutcome("sketches", claims, everyRow), wrong: 0, groups };
}

/** Everything that was ever published, against somebody who knows who was in which group. */
export function rowSpaceOutcome(published: readonly PublishedGroup[]): Outcome {
  const { rows, smallestClass } = isolatedRows(published);
  return {
    attack: "row space",
    rows: rows.length,
    ...(rows.length > 0 ? { rowError: 0 } : {}),
    ...(Number.isFinite(smallestClass) ? { smallestClass } : {}),
  };
}
