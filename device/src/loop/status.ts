// A device's status as plain data: for tables, metrics and machines. It stays on the device.

import { toRows } from "@fedkm/core";
import type { GuardedStatus } from "../privacy/guardedRows.ts";
import type { PrivateStatus } from "../privacy/ledger.ts";
import type { Study } from "../study/study.ts";
import { unscale } from "../study/units.ts";
import type { RefusalReason } from "./frameFilter.ts";
import { malformedFault, type Neighbour, neighbourConflict, neighboursPull, rejectedShare } from "./neighbours.ts";
import type { UpdateModel } from "./updateModel.ts";

/**
 * starting: the first k-means runs. waiting: too few rows, and no neighbour heard yet. moving: there is something to send.
 * settled: nothing is, see `threshold`. alone: nothing is either, but no neighbour counts, so its clusters are its own.
 * paused: a person wants it to make no update.
 */
type Phase = "starting" | "waiting" | "moving" | "settled" | "alone" | "paused";

/** How a link is doing, as this device sees it. */
export interface NeighbourStatus {
  readonly peer: string;
  readonly isConnected: boolean;
  readonly isAway: boolean;
  /** Milliseconds since it was last heard; null: never. */
  readonly age: number | null;
  readonly framesHeard: number;
  /** Frames refused, by reason. */
  readonly framesRefused: Partial<Record<RefusalReason, number>>;
  /** It asks for a new opening too often, and is not followed for a while. */
  readonly opensTooOften: boolean;
  /** The share of its pulls that was left out in the last 100 rounds; null: too few rounds to say. */
  readonly rejected: number | null;
  /** Why nothing is sent to it, if so. */
  readonly refusal: string | null;
  /** What is wrong with the order of its frames or, as it says, of ours; a sentence that begins after its name. */
  readonly conflict: string | null;
  /** What it does against the rules; a sentence that begins after its name. */
  readonly fault: string | null;
  /** The version of the protocol that it speaks, if it is none of ours. */
  readonly version: number | null;
}

/** What is summed up, in the order of the numbers that frames carry; see sharedClusters/generation.ts. */
export type SharedStage =
  | "moments"
  | "grid"
  | "means"
  | "cores"
  | "rows"
  | "census"
  | "release"
  | "keys"
  | "frozen"
  | "rest"
  | "codebook"
  | "describe"
  | "described"
  | "approved"
  | "choose"
  | "chosen"
  | "validate";

/** What is known of the sums of each device on a board whose total is disputed. Devices by the first half of their keys. */
interface BooksStatus {
  readonly opened: readonly { readonly device: string; readonly rows: number }[];
  readonly unopened: readonly string[];
}

/** What the network of an open study has found out. */
export interface DescribedStatus {
  /** The closed study, as a canonical text, and its hash; null: no column can be used. */
  readonly study: string | null;
  readonly studyHash: string | null;
  /** Its owner has approved of it, and so have all. */
  readonly isApproved: boolean;
  readonly isApprovedByAll: boolean;
  /** What its owner should know before approving: columns that are left out, and own ones that are unlike all others. */
  readonly remarks: readonly string[];
  /** Over all devices. */
  readonly rows: number;
  readonly columns: readonly DescribedColumn[];
}

/** What the network of a study that leaves k open has found out. */
export interface ChosenStatus {
  readonly rows: number;
  /** Rows were told in groups: no gap between clusters can be shown, and k is uncertain. */
  readonly isFromGroups: boolean;
  /** At most three. Each with why somebody may want it, and the closed study that it leads to. */
  readonly candidates: readonly (ClosingStudy & {
    readonly k: number;
    /** How many clusters that are apart such a fit finds: fewer than k where strays take clusters for themselves. */
    readonly found: number;
    /** As of `KCandidate`; of groups where cost bends and where the silhouette is highest. */
    readonly reason: "most" | "fewer" | "coarse" | "long" | "none" | "elbow" | "silhouette";
  })[];
  /** For each k that was tried: cost, silhouette, how many clusters are apart from all others and the share of rows in these. */
  readonly curve: readonly {
    readonly k: number;
    readonly inertia: number;
    readonly silhouette: number;
    readonly clusters: number;
    readonly apart: number;
  }[];
  /** Owners wanted different ones: what is left is what most wanted. */
  readonly isSecondVote: boolean;
  readonly isApprovedByAll: boolean;
}

/** How good the answer is, over all devices and for this one, which tells nobody. Spreads and centroids in the features' units. */
export interface ValidationStatus {
  readonly all: ClusterFigures;
  readonly own: ClusterFigures;
  /** Whether clusters are apart. */
  readonly verdict: string;
  /** For each cluster how alike it is in replicates (Jaccard, from 0 to 1); null: none were made. */
  readonly jaccards: readonly number[] | null;
  /** Half the width of 90 % intervals (1.645 standard errors): of a cluster's share of the rows, and of its centroid. */
  readonly shareErrors: readonly number[] | null;
  readonly centroidErrors: readonly (readonly number[])[] | null;
  /** By how many spreads of all rows the mean of this device's rows is off the mean of all, feature by feature. */
  readonly differences: readonly { readonly feature: string; readonly spreads: number }[];
}

/** Of rows: how many are in each cluster and far from it, the mean squared distance to the centroid, the mean silhouette. */
interface ClusterFigures {
  readonly rows: number;
  readonly sizes: readonly number[];
  readonly cost: number;
  readonly silhouette: number;
  readonly farShare: number;
}

/** A canonical text, its hash, and whether the owner has approved of it. */
interface ClosingStudy {
  readonly study: string;
  readonly studyHash: string;
  readonly isApproved: boolean;
}

interface DescribedColumn {
  readonly name: string;
  readonly gaps: number;
  /** Of a number: mean, spread, and below which values 5, 25, 50, 75 and 95 percent of the rows lie. */
  readonly mean?: number;
  readonly deviation?: number;
  readonly quantiles?: readonly number[];
  /** Of a category: its values that are told, with their rows, and the rows of the others. */
  readonly levels?: readonly { readonly name: string; readonly count: number }[];
  readonly rare?: number;
}

/** Of shared clusters. */
export interface SharedStatus {
  /** Of an open study; null: it is closed, or nothing is found out yet. */
  readonly described: DescribedStatus | null;
  /** Of a study that leaves k open; null: it does not, or nothing is found out yet. */
  readonly chosen: ChosenStatus | null;
  /** Null: the study does not ask for it, or there is no answer yet. */
  readonly validation: ValidationStatus | null;
  /** The number of the sums that are asked for now, and what they are sums of. */
  readonly generation: number;
  readonly stage: SharedStage;
  /** In the last sums that were complete: devices, this one included, and rows; null: there were none yet. */
  readonly devices: number | null;
  readonly pooledRows: number | null;
  /** Neighbours whose masks are in what this device posts. */
  readonly countedLinks: number;
  /** Why nothing is posted, if so. */
  readonly waiting: string | null;
  /** Sums came out that no rows can have: somebody's are not of rows. */
  readonly isImplausible: boolean;
  /** Members against whom there is evidence, and what they did: they are left out for good. */
  readonly removed: readonly { readonly device: string; readonly fault: string }[];
  /** How many devices say that the answer does not fit their rows. */
  readonly doubts: number;
  /** Where sums are disputed; null: they are not. */
  readonly books: BooksStatus | null;
  /** How many rows a device may hold; null: nothing bounds what one device weighs. */
  readonly mostRows: number | null;
  /** Pairs of devices that signed for different pads of their link, so that one of them lies. */
  readonly disputed: readonly string[];
  /** Of a study with founders: how many are members. Null: links decide who takes part. */
  readonly members: number | null;
  /** With fewer the sums of one are no secret: colluders and two others. */
  readonly leastMembers: number;
  /** Members that made all add up again so often that they are left out for a while. */
  readonly suspended: readonly string[];
  /** How often the device has sent something. */
  readonly tellings: number;
}

/** How a device is doing. */
export interface DeviceStatus {
  readonly peer: string;
  readonly study: string;
  readonly phase: Phase;
  /** Rows that count, and rows that do not: out of the study's bounds, or too few. */
  readonly rows: number;
  readonly rowsLeftOut: number;
  /** The study's mode. */
  readonly privacy: Study["privacy"];
  /** Null unless the mode is "guarded". */
  readonly guarded: GuardedStatus | null;
  /** Null unless the mode is "private". */
  readonly private: PrivateStatus | null;
  /**
   * What neighbours say of the history of these rows: who has seen a later one, so that this folder is an old copy; and
   * who has yet to say what it has seen, before anything of the rows is sent. Null where no history is kept.
   */
  readonly history: { readonly witness: string | null; readonly awaited: readonly string[] } | null;
  readonly epoch: number;
  /** The number of the opening: it grows when somebody leaves the network. */
  readonly opening: number;
  readonly round: number;
  /** Largest move of a coordinate in the last update, as a share of its feature's range; null before the first. */
  readonly move: number | null;
  /** A larger move is sent, unless it is noise. See docs/protocol.md for how near to the fixed point settled devices are. */
  readonly threshold: number;
  /** Own part of the objective: loss and half of the coupling. Summed over honest devices it is the objective. */
  readonly objective: number | null;
  /** How far a centroid is from the mean of its own rows at most, in standard errors; null before the first update. */
  readonly drift: number | null;
  /** If that is near to what the device allows, the peers that pull while others do not; none of them: all do. */
  readonly pulledBy: readonly string[] | null;
  readonly framesSent: number;
  readonly neighbours: readonly NeighbourStatus[];
  /** Null unless clusters are shared. */
  readonly shared: SharedStatus | null;
  /** In the features' units. */
  readonly centroids: readonly (readonly number[])[] | null;
}

/** Whose status, of when. */
export interface StatusOrigin {
  readonly peer: string;
  readonly study: Study;
  readonly epoch: number;
  readonly now: number;
}

interface PersonalOrigin extends StatusOrigin {
  readonly opening: number;
  /** Something is to come: sketches are being gathered, or a change is held back. */
  readonly isOpening: boolean;
  readonly isPaused: boolean;
}

export function personalStatus(
  { peer, study, epoch, opening, isOpening, isPaused, now }: PersonalOrigin,
  model: UpdateModel,
  neighbours: readonly Neighbour[],
  framesSent: number,
): DeviceStatus {
  const { localData, round, move, threshold, last, centroids } = model;
  return {
    peer,
    study: study.name,
    phase: isPaused ? "paused" : phaseOf(model, neighbours, isOpening),
    rows: localData.rows,
    rowsLeftOut: localData.leftOut,
    privacy: study.privacy,
    guarded: model.guarded?.status() ?? null,
    private: model.private?.status() ?? null,
    history: null,
    epoch,
    opening,
    round,
    move: Number.isFinite(move) ? move : null,
    threshold,
    objective: last === undefined ? null : (last.objective + last.loss) / 2,
    ...neighboursPull(last, neighbours),
    framesSent,
    neighbours: neighbours.map((neighbour) => neighbourStatus(neighbour, epoch, now)),
    shared: null,
    centroids: centroids === undefined ? null : toRows(unscale(study, centroids)),
  };
}

export function neighbourStatus(neighbour: Neighbour, epoch: number, now: number): NeighbourStatus {
  return {
    peer: neighbour.peer,
    isConnected: neighbour.isConnected,
    isAway: neighbour.isAway,
    age: neighbour.framesHeard > 0 ? now - neighbour.heardAt : null,
    framesHeard: neighbour.framesHeard,
    framesRefused: Object.fromEntries(neighbour.filter.refused),
    opensTooOften: neighbour.opensTooOften,
    rejected: rejectedShare(neighbour),
    refusal: neighbour.refusal ?? null,
    conflict: neighbourConflict(neighbour, epoch, now) ?? null,
    fault: malformedFault(neighbour, now) ?? null,
    version: neighbour.filter.version ?? null,
  };
}

function phaseOf(
  { isStarting, isMoving, centroids }: UpdateModel,
  neighbours: readonly Neighbour[],
  isOpening: boolean,
): Phase {
  if (isStarting) return "starting";
  if (centroids === undefined) return "waiting";
  if (isMoving || isOpening) return "moving";
  return neighbours.some((neighbour) => neighbour.centroids !== undefined && !neighbour.isAway) ? "settled" : "alone";
}

/**
 * A device is settled if it has nothing to send and has heard all of `neighbours` over links that stand. Its own phase
 * says only the first: a device that nobody has reached yet has nothing to send either. `enoughMove` is the largest last
 * move, as a share of the range, that also counts as nothing to send; without it the phase decides.
 */
export function isSettled(
  { phase, move }: Pick<DeviceStatus, "phase" | "move">,
  neighbours: readonly Pick<NeighbourStatus, "isConnected" | "age">[],
  enoughMove = 0,
): boolean {
  const isQuiet = phase === "settled" || phase === "alone" || (move !== null && move < enoughMove);
  return isQuiet && neighbours.every(({ isConnected, age }) => isConnected && age !== null);
}

/** The study that all owners have approved of; undefined: there is none yet. */
export function approvedStudy(shared: SharedStatus | null | undefined): string | undefined {
  const { described, chosen } = shared ?? {};
  if (described?.isApprovedByAll === true) return described.study ?? undefined;
  return chosen?.isApprovedByAll === true ? chosen.candidates[0]?.study : undefined;
}
