// What a device update keeps between its steps: centroids, (E1)'s statistics, the neighbours' pull, the best result so far.

import type { PackedLinks } from "../graph/graph.ts";
import { emptyStatistics, type Statistics } from "../kernel/kernel.ts";
import { type CentroidSets, emptyMatches, type Matches } from "./coupling.ts";
import type { Penalty } from "./penalty.ts";
import type { UpdateSettings } from "./updateOptions.ts";

/**
 * What updates add up on their way. Where every device is updated once, one by one and in order, an update meets the later
 * devices as they were before all of them, and itself too: the sum is the total variation at that time.
 */
export interface RunningVariation {
  variation: number;
}

/**
 * One device's update in progress. It holds no points: whoever holds them fills `statistics` at `centroids` when asked.
 * The steps of update.ts write to it. It is used again for the next update, so that an update leaves no garbage.
 */
export interface UpdateState {
  readonly k: number;
  readonly cols: number;
  settings: UpdateSettings;
  /** In: the device's centroids. Out: the updated ones. */
  readonly centroids: Float64Array;
  /** (E1). */
  readonly statistics: Statistics;
  /** Whether `statistics` are those of `centroids`. */
  isAssigned: boolean;
  /** Whether the next answer must include the loss, which can cost a pass over the points of its own. */
  wantsLoss: boolean;
  /** Everyone's centroids, everyone's links, and which of these are the device's. */
  sets: CentroidSets;
  links: PackedLinks;
  firstLink: number;
  endLink: number;
  /** Its number among them. */
  device: number;
  /** What the links to later devices cost before the updates so far. */
  readonly running: RunningVariation;
  /** What a link costs. */
  penalty: Penalty;
  /** u_i / m_i. */
  pointScale: number;
  /** Further starts of the solver besides the device's centroids (and its neighbours', with `candidates`). */
  freshStarts: readonly Float64Array[];
  /** Passes from the start at hand, and J as it was last computed. */
  passes: number;
  objective: number;
  /** How many starts came to their end; the best result so far, with its J. */
  tried: number;
  bestObjective: number;
  readonly best: Float64Array;
  readonly bestStatistics: Statistics;
  /** Where first passes led from which a start went on; the first `reachedCount` are of this update. */
  readonly reached: Float64Array[];
  reachedCount: number;
  readonly matches: Matches;
  /** Per own centroid: the weighted sum and the weight of the neighbours' centroids matched with it. */
  readonly pullSums: Float64Array;
  readonly pullWeights: Float64Array;
  /** The centroids at the start, after the first pass, and what (M) aimed that pass at, with its weights. */
  readonly input: Float64Array;
  readonly firstPass: Float64Array;
  readonly firstTarget: Float64Array;
  readonly firstWeights: Float64Array;
  /** Where (E1) was asked for the (M) that led to `centroids`, and to `best`: the rows enter a result by these labels only. */
  readonly basis: Float64Array;
  readonly bestBasis: Float64Array;
  /** With `robust` only. */
  readonly robust: RobustRoom | undefined;
}

/** Working memory of robust updates, per neighbour or per own centroid. Lengths are squared. */
export interface RobustRoom {
  readonly matches: Matches[];
  /** The lengths of (E3) at one own centroid, one of each neighbour. */
  readonly votes: number[];
  /** Beyond this length a term is far; by this much a neighbour may pull in any case. */
  readonly far: Float64Array;
  readonly harmless: Float64Array;
  /** For one neighbour: beyond this length its terms fade, which of its centroids may pull by (E2), and all these lengths. */
  readonly limits: Float64Array;
  readonly nearest: Int32Array;
  readonly squares: Float64Array;
  /** For one neighbour: how far all its terms are let through. */
  share: number;
  /** What a term costs at most. */
  mostCost: number;
  /** Of each own centroid: 0 where all terms are whole, 1 where one is gone, 2 where one is held or fades. */
  readonly cut: Uint8Array;
  /** The share of a neighbour's terms that was not let through. */
  readonly rejected: number[];
  /** The centroids before (M). */
  readonly before: Float64Array;
}

function emptyRobustRoom(k: number, cols: number, largestSet: number): RobustRoom {
  return {
    matches: [],
    votes: [],
    far: new Float64Array(k),
    harmless: new Float64Array(k),
    limits: new Float64Array(k),
    nearest: new Int32Array(k),
    squares: new Float64Array(largestSet),
    share: 1,
    mostCost: 0,
    cut: new Uint8Array(k),
    rejected: [],
    before: new Float64Array(k * cols),
  };
}

const noSets: CentroidSets = { data: new Float64Array(0), starts: new Uint32Array(1), cols: 0, rows: 0 };

const noLinks: PackedLinks = {
  starts: new Uint32Array(1),
  devices: new Uint32Array(0),
  weights: new Float64Array(0),
};

/** Room for updates of devices with k centroids of `cols` numbers, without neighbours until it is given some. */
export function emptyUpdate(
  k: number,
  cols: number,
  settings: UpdateSettings,
  largestSet = k,
  met: RunningVariation = { variation: 0 },
): UpdateState {
  return {
    k,
    cols,
    settings,
    centroids: new Float64Array(k * cols),
    statistics: emptyStatistics(k, cols),
    isAssigned: false,
    wantsLoss: true,
    sets: noSets,
    links: noLinks,
    firstLink: 0,
    endLink: 0,
    device: 0,
    running: met,
    penalty: "squared",
    pointScale: 1,
    freshStarts: [],
    passes: 0,
    objective: 0,
    tried: 0,
    bestObjective: 0,
    best: new Float64Array(k * cols),
    bestStatistics: emptyStatistics(k, cols),
    reached: [],
    reachedCount: 0,
    matches: emptyMatches(Math.max(k, largestSet)),
    pullSums: new Float64Array(k * cols),
    pullWeights: new Float64Array(k),
    input: new Float64Array(k * cols),
    firstPass: new Float64Array(k * cols),
    firstTarget: new Float64Array(k * cols),
    firstWeights: new Float64Array(k),
    basis: new Float64Array(k * cols),
    bestBasis: new Float64Array(k * cols),
    robust: settings.robust === false ? undefined : emptyRobustRoom(k, cols, largestSet),
  };
}
