// The options of Algorithm 1: what they mean, their names for whoever checks them, and the rules that join several.

import { checkInteger } from "./check.ts";
import type { EmptyClusters } from "./emptyClusters.ts";
import type { OptionNames } from "./given.ts";
import type { Weighting } from "./network.ts";
import { type Preset, sharedOptionNames, type UpdateOptions } from "./options.ts";
import { checkPenalty, type PenaltyOption } from "./penalty.ts";
import type { Schedule } from "./schedule.ts";
import type { Clusters, Init } from "./start.ts";

export interface FitOptions extends Omit<UpdateOptions, "weight" | "edgeWeights"> {
  /** Clusters of every device, or a list with those of each. */
  k: Clusters;
  /** Default "dependable": what is not said otherwise is chosen for the right answer, not as in the paper. */
  preset?: Preset | undefined;
  /** At most this many rounds, each of n device updates. Default 200. */
  rounds?: number | undefined;
  /** Default "cyclic". */
  schedule?: Schedule | undefined;
  /** Default "device". */
  weighting?: Weighting | undefined;
  /** What a link costs. A name alone scales "norm" and "truncated" by what clusters differ by chance. Default "squared". */
  penalty?: PenaltyOption | undefined;
  /** Default "auto", or "local" with alpha 0, with preset "paper" or with another penalty than "squared". */
  init?: Init | undefined;
  /** Where a given `init` leaves a device's clusters without points. Moved ones begin at records. Default "keep". */
  empty?: EmptyClusters | undefined;
  /** Starts of the k-means that `init` needs. Default 10. */
  restarts?: number | undefined;
  /** No centroid of fewer points is flooded (`init: "federated"`, and methods that flood centroids). Default 1. */
  minimum?: number | undefined;
  /** Default 0. */
  seed?: number | undefined;
  /**
   * Whether a run that is slow to settle also takes steps of all devices together. They need sums over the network, so
   * they are for runs in one process and for networks that can sum; a device on its own keeps to updates. Default true,
   * but false with preset "paper" or a listed schedule. With alpha 0 there are none.
   */
  jointSteps?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

export const fitOptionNames: OptionNames<FitOptions> = {
  k: true,
  ...sharedOptionNames,
  preset: true,
  rounds: true,
  schedule: true,
  weighting: true,
  penalty: true,
  init: true,
  empty: true,
  restarts: true,
  minimum: true,
  jointSteps: true,
  signal: true,
};

/** One number where all are the same. Whatever pairs clusters one to one, or takes over a neighbour's, needs that. */
export function checkedClusters({ k, coupling, candidates }: FitOptions, devices: number): Clusters {
  if (!Array.isArray(k)) {
    checkInteger("k", k, 1);
    return k;
  }
  if (k.length !== devices) {
    throw new RangeError(`k must have ${devices} numbers (one for each device), got ${k.length}`);
  }
  k.forEach((own, i) => {
    checkInteger(`k[${i}]`, own, 1);
  });
  if (k.every((own) => own === k[0])) return k[0];
  if (coupling === "transport" || candidates) {
    throw new RangeError(`k must be one number with coupling "transport" or candidates, got ${k.join(", ")}`);
  }
  return k;
}

export function meanClusters(k: Clusters): number {
  return typeof k === "number" ? k : k.reduce((a, b) => a + b) / k.length;
}

export function defaultInit(preset: Preset, alpha: number, k: Clusters, penalty: PenaltyOption): Init {
  // The paper's "initialized with k-means++" is most likely k-means run to its end, see docs/paper.md#the-start.
  if (preset === "paper") return "local";
  // Alone means alone: nothing is flooded either. And clusters of different numbers have no common seed.
  return alpha === 0 || typeof k !== "number" || penalty !== "squared" ? "local" : "auto";
}

/** From a common start no link costs anything, and these penalties would hold all devices there. */
export function checkStart(penalty: PenaltyOption, init: Init): void {
  checkPenalty(penalty);
  if (penalty === "squared" || (init !== "auto" && init !== "federated")) return;
  const name = typeof penalty === "string" ? penalty : penalty.name;
  const rule = '"local", "kmeans++", "classic kmeans++" or a matrix for each device';
  throw new RangeError(`init must be ${rule} (with penalty "${name}" a common start is not left), got "${init}"`);
}

/** The gate works on the lengths that (E2) and (E3) find, and a penalty would weigh them a second time. */
export function checkRobust(robust: FitOptions["robust"], penalty: PenaltyOption): void {
  if (robust === undefined || robust === false || penalty === "squared") return;
  const name = typeof penalty === "string" ? penalty : penalty.name;
  throw new RangeError(`penalty must be "squared" with robust, got "${name}"`);
}
