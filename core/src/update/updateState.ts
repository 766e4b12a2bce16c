// What a device update keeps between its steps: centroids, (E1)'s statistics, the neighbours' pull, the best result so far.

import type { PackedLinks } from "../graph/graph.ts";
import { emptyStatistics } from "../kernel/kernel.ts";
import { type CentroidSets, emptyMatches, type Matches, type Penalty } from "./coupling.ts";
import type { UpdateSettings } from "./updateOptions.ts";

/**
 * What updates add up on their way. Where every device is updated once, one by one and in order, an update meets the later
 * devices as they were before all of them, and itself too: the sum is the total variation at that time.
 */
export interface RunningVariation {
  variation: number;
}

const noSets: CentroidSets = { data: new Float64Array(0), starts: new Uint32Array(1), cols: 0, rows: 0 };

const noLinks: PackedLinks = { starts: new Uint32Array(1), devices: new Uint32Array(0), weights: new Float64Array(0) };

/**
 * One device's update in progress. It holds no points: whoever holds them fills `statistics` at `centroids` when asked.
 * The steps of update.ts write to it. It is used again for the next update, so that an update leaves no garbage.
 */
export type UpdateState = ReturnType<typeof emptyUpdate>;

/** Room for updates of devices with k centroids of `cols` numbers, without neighbours until it is given some. */
export function emptyUpdate(
  k: number,
  cols: number,
  settings: UpdateSettings,
  largestSet = k,
  running: RunningVariation = { variation: 0 },
) {
  return {
    k,
    cols,
    settings,
    /** In: the device's centroids. Out: the updated ones. */
    centroids: new Float64Array(k * cols),
    statistics: emptyStatistics(k, cols),
    /** Of the points around their means, where the points say it themselves; undefined: as the statistics have it. */
    deviation: undefined as number | undefined,
    /** Whether `statistics` are those of `centroids`. */
    isAssigned: false,
    /** Whether the next answer must include the loss, which can cost a pass over the points of its own. */
    wantsLoss: true,
    /** Everyone's centroids, everyone's links, and which of these are the device's. */
    sets: noSets,
    links: noLinks,
    firstLink: 0,
    endLink: 0,
    /** Its number among them. */
    device: 0,
    /** What the links to later devices cost before the updates so far. */
    running,
    penalty: "squared" as Penalty,
    /** u_i / m_i. */
    pointScale: 1,
    /** Further starts of the solver besides the device's centroids (and its neighbours', with `candidates`). */
    freshStarts: [] as readonly Float64Array[],
    /** Passes from the start at hand, and J as it was last computed. */
    passes: 0,
    objective: 0,
    /** How many starts came to their end; the best result so far, with its J. */
    tried: 0,
    bestObjective: 0,
    best: new Float64Array(k * cols),
    bestStatistics: emptyStatistics(k, cols),
    /** Where first passes led from which a start went on; the first `reachedCount` are of this update. */
    reached: [] as Float64Array[],
    reachedCount: 0,
    matches: emptyMatches(Math.max(k, largestSet)),
    /** Per own centroid: the weighted sum and the weight of the neighbours' centroids matched with it. */
    pullSums: new Float64Array(k * cols),
    pullWeights: new Float64Array(k),
    /** The centroids at the start, after the first pass, and what (M) aimed that pass at, with its weights. */
    input: new Float64Array(k * cols),
    firstPass: new Float64Array(k * cols),
    firstTarget: new Float64Array(k * cols),
    firstWeights: new Float64Array(k),
    /** Where (E1) was asked for the (M) that led to `centroids`, and to `best`: the rows enter a result by these labels only. */
    basis: new Float64Array(k * cols),
    bestBasis: new Float64Array(k * cols),
    robust: settings.robust === false ? undefined : emptyRobustRoom(k, cols, largestSet),
  };
}

/** Working memory of robust updates, per neighbour or per own centroid. Lengths are squared. */
export type RobustRoom = ReturnType<typeof emptyRobustRoom>;

function emptyRobustRoom(k: number, cols: number, largestSet: number) {
  return {
    matches: [] as Matches[],
    /** The lengths of (E3) at one own centroid, one of each neighbour. */
    votes: [] as number[],
    /** Beyond this length a term is far; by this much a neighbour may pull in any case. */
    far: new Float64Array(k),
    harmless: new Float64Array(k),
    /** For one neighbour: beyond this length its terms fade, which of its centroids may pull by (E2), and all these lengths. */
    limits: new Float64Array(k),
    nearest: new Int32Array(k),
    squares: new Float64Array(largestSet),
    /** For one neighbour: how far all its terms are let through. */
    share: 1,
    /** What a term costs at most. */
    mostCost: 0,
    /** Of each own centroid: 0 where all terms are whole, 1 where one is gone, 2 where one is held or fades. */
    cut: new Uint8Array(k),
    /** The share of a neighbour's terms that was not let through. */
    rejected: [] as number[],
    /** The centroids before (M). */
    before: new Float64Array(k * cols),
  };
}
