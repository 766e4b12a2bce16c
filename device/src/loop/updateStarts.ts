// The starts of an update: where it may begin (the common start, the device's own k-means, where it was), where each leads, and
// which end is kept. Rows in memory answer at once, remote rows answer later.

import {
  type DeviceUpdate,
  discrepancy,
  graph,
  kmeans,
  type Matrix,
  updateDevice,
  updateDeviceAsync,
} from "@fedkm/core";
import { fitSources } from "@fedkm/core/sources";
import { type RemoteRows, remoteStatistics } from "../study/remoteRows.ts";
import type { Study } from "../study/study.ts";
import type { DeviceSketch } from "../wire/studyFrames.ts";
import type { LocalData } from "./localData.ts";
import { openingSketchCentroids } from "./sketch.ts";

export interface LocalKmeans {
  readonly centroids: Matrix;
  readonly inertia: number;
  /** Rows of each cluster. */
  readonly counts: ArrayLike<number>;
  /** The inertia at other centroids; of rows that are remoteRows only at those of the sketch that was known. */
  inertiaAt(centroids: Matrix): number;
}

/** The better one of the best so far and one more start. */
export function betterLocalKmeans(
  counted: LocalData,
  k: number,
  seed: number,
  best: LocalKmeans | undefined,
): LocalKmeans {
  const { points, weights } = counted;
  const { centroids, inertia, labels } = kmeans(points, { k, weights, restarts: 1, seed });
  if (best !== undefined && best.inertia <= inertia) return best;
  return { centroids, inertia, counts: counted.countsOf(labels), inertiaAt: (other) => counted.inertiaAt(other) };
}

/** All starts on a sample, and then few passes over all rows. */
export async function localKmeansOfRemoteRows(
  remoteRows: RemoteRows,
  k: number,
  seed: number,
  known: DeviceSketch | undefined,
): Promise<LocalKmeans> {
  const { source, signal } = remoteRows;
  const found = await fitSources([source], graph(1, []), { k, alpha: 0, seed, signal });
  const sketched = known && openingSketchCentroids(known);
  const isSketched = sketched !== undefined && sketched.rows > 0;
  const loss = isSketched ? (await remoteStatistics(remoteRows, sketched)).loss : Number.POSITIVE_INFINITY;
  const [centroids] = found.centroids;
  const [{ counts }] = found.statistics;
  return { centroids, inertia: found.inertia, counts, inertiaAt: () => loss };
}

/**
 * An end whose loss is more times that of another is not taken, whatever neighbours say. Honest devices with skewed rows
 * end at up to 2.7 times the loss of their own k-means; without a limit a member with other rows took them to 73 times.
 */
const MOST_LOSS = 4;

/**
 * Whether `found` is better than `kept`: by the objective without a gate, because to a gate a neighbour in another basin
 * looks like a liar, and everybody would stay with clusters of its own instead of the common ones.
 */
function isBetterUpdate(
  found: DeviceUpdate,
  kept: DeviceUpdate,
  neighbours: readonly Matrix[],
  { alpha, coupling }: Study,
): boolean {
  if (found.loss > MOST_LOSS * kept.loss) return false;
  if (kept.loss > MOST_LOSS * found.loss) return true;
  const objectiveOf = ({ loss, centroids }: DeviceUpdate) =>
    neighbours.reduce((sum, other) => sum + alpha * discrepancy(centroids, other, coupling), loss);
  return objectiveOf(found) < objectiveOf(kept);
}

/** An update under way: where the device was, where it begins, and against whom. */
export interface UpdatePlan {
  readonly before: Matrix | undefined;
  readonly starts: readonly Matrix[];
  readonly neighbours: readonly Matrix[];
  readonly isOpening: boolean;
}

export function updateStartsInMemory(
  { points, weight, kernel }: LocalData,
  study: Study,
  turn: UpdatePlan,
): DeviceUpdate[] {
  const options = { ...updateOptions(study, turn, weight), kernel };
  return turn.starts.map((start) => updateDevice(points, start, turn.neighbours, options));
}

export async function updateStartsOfRemoteRows(
  remoteRows: RemoteRows,
  weight: number,
  study: Study,
  turn: UpdatePlan,
): Promise<DeviceUpdate[]> {
  const { rows, cols } = remoteRows.source;
  const asked = { rows, cols, statistics: (centroids: Matrix) => remoteStatistics(remoteRows, centroids) };
  const ends: DeviceUpdate[] = [];
  for (const start of turn.starts) {
    ends.push(await updateDeviceAsync(asked, start, turn.neighbours, updateOptions(study, turn, weight)));
  }
  return ends;
}

function updateOptions(
  { k, alpha, coupling, neighbours: trust }: Study,
  { neighbours, isOpening }: UpdatePlan,
  weight: number,
) {
  const candidates = alpha > 0 && neighbours.every(({ rows }) => rows === k);
  // After the opening one pass, which is all that neighbours who move at the same time allow: several would want half
  // of the move only (damping), else they can end in a cycle. See docs/paper.md#gauss-seidel-not-jacobi.
  const manner = isOpening ? { candidates } : { passes: 1 };
  return { alpha, coupling, weight, robust: trust !== "trusted", ...manner } as const;
}

/** The best end, and whether it began elsewhere than the device was. */
export function bestUpdate(
  { before, starts, neighbours }: UpdatePlan,
  [first, ...others]: readonly DeviceUpdate[],
  study: Study,
): { readonly end: DeviceUpdate; readonly isFresh: boolean } {
  let [end, isFresh] = [first, starts[0] !== before];
  for (const found of others) {
    if (isBetterUpdate(found, end, neighbours, study)) [end, isFresh] = [found, true];
  }
  return { end, isFresh };
}
