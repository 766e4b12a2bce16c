// The options of Algorithm 1: what they mean, their names, the rules that join several, and the presets round by round.

import { checkInteger, checkOneOf } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { describeArgument, type OptionNames, withoutUndefined } from "../data/optionNames.ts";
import type { Graph } from "../graph/graph.ts";
import { centroidSetsOfModel, type Predictor } from "../kernel/model.ts";
import type { EmptyClusters } from "../start/kmeans.ts";
import type { ClusterCounts, Init } from "../start/start.ts";
import { checkPenalty, type PenaltyOption } from "../update/coupling.ts";
import {
  type Neighbourhood,
  sharedOptionNames,
  type UpdateOptions,
  type UpdateSettings,
  updateSettings,
} from "../update/updateOptions.ts";
import { checkSchedule, type Schedule } from "./schedule.ts";

/** device: every device counts the same (u_i = 1). sample: every point does (u_i = m_i / mean m). */
export type Weighting = "device" | "sample";

/** What neighbours can learn. */
export type Privacy = "open" | "guarded";

/** Options of `fit`. Only k and alpha are needed. */
export interface FitOptions extends Omit<UpdateOptions, "weight" | "edgeWeights"> {
  /** Clusters of every device, or a list with those of each. */
  k: ClusterCounts;
  /** The defaults of other options: "dependable" is chosen for good answers, "paper" is the paper's algorithm. Default "dependable". */
  preset?: Preset | undefined;
  /** Rounds at most; a round is one update of every device. Default 200. */
  rounds?: number | undefined;
  /** Default "cyclic". */
  schedule?: Schedule | undefined;
  /**
   * Default "device", the algorithm of the paper: every device counts the same. Requests through `@fedkm/tables` (command,
   * Python, files) weight rows equally by default, which is "sample".
   */
  weighting?: Weighting | undefined;
  /**
   * How much each row of each device counts. Whole weights give what repeated rows give, to the bit; a row of weight 0 gets a
   * label and counts for nothing. Not for `minimum` and guarded rows, which count rows. Default 1.
   */
  weights?: readonly ArrayLike<number>[] | undefined;
  /** What a link costs. Without a scale, "norm" and "truncated" get one from how much clusters differ by chance. Default "squared". */
  penalty?: PenaltyOption | undefined;
  /** Default "auto", or "local" with alpha 0, with preset "paper" or with another penalty than "squared". */
  init?: Init | Exclude<Predictor, readonly unknown[]> | undefined;
  /** What happens to clusters of a given `init` that have no points; "farthest" moves them to single points. Default "keep". */
  empty?: EmptyClusters | undefined;
  /** How often the k-means of `init` is started; the best result counts. Default 10. */
  restarts?: number | undefined;
  /** Default "open": neighbours can compute cluster means, sizes and, over time, single rows from what they are sent.
   *  "guarded": no combination of what is sent isolates fewer than `minimum` rows. */
  privacy?: Privacy | undefined;
  /** No centroid of fewer points is flooded (`init: "federated"`, and methods that flood centroids), and the promise of
   *  `privacy: "guarded"`. Default 1, or 10 with "guarded". */
  minimum?: number | undefined;
  /** Default 0. */
  seed?: number | undefined;
  /**
   * Whether a run that is slow to settle also takes steps of all devices together. They need sums over the network, so
   * they are for runs in one process and for networks that can sum; a device on its own keeps to updates. Default true,
   * but false with preset "paper" or a listed schedule. With alpha 0 there are none.
   */
  jointSteps?: boolean | undefined;
  /** Ends the work between two rounds when it is aborted. */
  signal?: AbortSignal | undefined;
}

export const fitOptionNames: OptionNames<FitOptions> = {
  k: true,
  ...sharedOptionNames,
  preset: true,
  rounds: true,
  schedule: true,
  weighting: true,
  weights: true,
  penalty: true,
  init: true,
  empty: true,
  restarts: true,
  privacy: true,
  minimum: true,
  jointSteps: true,
  signal: true,
};

/** What a run is made with: its options with their defaults, checked, and the settings of every round. */
export function fitSettings(options: FitOptions, graph: Graph) {
  const { schedule = defaults.schedule, preset = defaults.preset, penalty = defaults.penalty } = options;
  checkSchedule(schedule, graph.size);
  const k = checkedClusters(options, graph.size);
  const around = {
    k: typeof k === "number" ? k : k.reduce((a, b) => a + b) / k.length,
    degree: graph.weights.reduce((sum, row) => sum + row.reduce((a, b) => a + b, 0), 0) / graph.size,
  };
  const given = typeof k === "number" ? options : { ...options, candidates: false };
  const settingsOf = settingsOfRounds(given, preset, schedule, around);
  const init = givenStart(options.init, graph.size) ?? defaultInit(preset, options, k, penalty);
  checkPenalised(penalty, init, options.robust);
  checkGuarded(options, init);
  return { schedule, preset, k, around, init, penalty, settingsOf };
}

/** Centroids of every device as they are given, or those of a model: one set of a single device is everybody's. */
export function givenStart(init: FitOptions["init"], devices: number): Init | undefined {
  if (init === undefined || typeof init === "string" || Array.isArray(init)) return init;
  const sets = centroidSetsOfModel(init as Predictor);
  return sets.length > 1 ? sets : Array.from({ length: devices }, () => sets[0]);
}

/** One number where all are the same. Whatever pairs clusters one to one, or takes over a neighbour's, needs that. */
function checkedClusters({ k, coupling, candidates }: FitOptions, devices: number): ClusterCounts {
  if (!Array.isArray(k)) {
    checkInteger("k", k, 1);
    return k;
  }
  if (k.length !== devices) {
    throw new RangeError(`k must have ${devices} numbers (one for each device), got ${k.length}`);
  }
  for (const [i, own] of k.entries()) checkInteger(`k[${i}]`, own, 1);
  if (k.every((own) => own === k[0])) return k[0];
  if (coupling === "transport" || candidates) {
    throw new RangeError(`k must be one number with coupling "transport" or candidates, got ${k.join(", ")}`);
  }
  return k;
}

function defaultInit(
  preset: Preset,
  { alpha, privacy }: Pick<FitOptions, "alpha" | "privacy">,
  k: ClusterCounts,
  penalty: PenaltyOption,
): Init {
  // The paper's "initialized with k-means++" is most likely k-means run to its end, see docs/paper.md#the-start.
  if (preset === "paper") return "local";
  // Alone means alone: nothing is flooded either. And clusters of different numbers have no common seed.
  if (alpha === 0 || typeof k !== "number" || penalty !== "squared") return "local";
  // "auto" sums losses, which are no sums of rows.
  return privacy === "guarded" ? "federated" : "auto";
}

/** What would send rows, losses or sums that the classes of guarded rows do not cover is refused. */
function checkGuarded(options: FitOptions, init: Init): void {
  const { privacy = "open", minimum = defaults.guardedMinimum, empty, freshStarts, jointSteps, penalty } = options;
  checkOneOf("privacy", privacy, ["open", "guarded"]);
  if (privacy === "open") return;
  const refuse = (name: string, rule: string, got: unknown) => {
    throw new RangeError(`${name} must be ${rule} with privacy "guarded", got ${describeArgument(got)}`);
  };
  checkInteger("minimum", minimum, 2);
  if (!Array.isArray(init) && init !== "federated" && init !== "local") {
    refuse("init", '"federated", "local" or a matrix for each device', init);
  }
  if (empty === "farthest") refuse("empty", '"keep" (points would be sent)', empty);
  if (freshStarts !== undefined && freshStarts > 0) refuse("freshStarts", "0 (they begin at points)", freshStarts);
  if (jointSteps === true) refuse("jointSteps", "false (they sum over the network)", jointSteps);
  if (typeof penalty === "string" && penalty !== "squared") {
    refuse("penalty", '"squared", or have a scale (it is found by summing losses)', penalty);
  }
  // Of several passes all would show, and the classes follow the last.
  const { relaxation = 1, passes } = options;
  if (typeof relaxation === "number" && relaxation !== 1 && passes !== 1) {
    refuse("relaxation", '1 or "auto", or used with passes 1,', relaxation);
  }
}

/** What only the squared penalty goes with. */
function checkPenalised(penalty: PenaltyOption, init: Init, robust: FitOptions["robust"]): void {
  checkPenalty(penalty);
  if (penalty === "squared") return;
  const name = typeof penalty === "string" ? penalty : penalty.name;
  // From a common start no link costs anything, and these penalties would hold all devices there.
  if (init === "auto" || init === "federated") {
    const rule = '"local", "kmeans++", "classic kmeans++" or a matrix for each device';
    const reason = `with penalty "${name}" devices never leave a common start`;
    throw new RangeError(`init must be ${rule} (${reason}), got "${init}"`);
  }
  // Robust updates limit the lengths that (E2) and (E3) find, and a penalty would weigh them a second time.
  if (robust) throw new RangeError(`penalty must be "squared" with robust, got "${name}"`);
}

/** paper: as printed, with its denominator corrected, from every device's own k-means. dependable: further starts in the first rounds, then over-relaxed single passes. */
export type Preset = "paper" | "dependable";

/** The first rounds choose the basin; two are enough for a wrong device to meet its neighbours' answers. */
const OPENING_ROUNDS = 2;

/**
 * Labels move in the first rounds, and over-relaxed steps would overshoot and move others: the run could then end in
 * another fixed point than without. After three rounds it does not, in 450 of 450 runs on the paper's data.
 */
const SETTLING_ROUNDS = 3;

/** Options of the caller win over the preset; an option that is undefined is not given. */
function settingsOfRounds(
  given: UpdateOptions,
  preset: Preset,
  schedule: Schedule,
  around: Neighbourhood,
): (round: number) => UpdateSettings {
  checkOneOf("preset", preset, ["paper", "dependable"]);
  const options = withoutUndefined(given);
  const { damping = 1, safeguard = false } = options;
  if (schedule === "simultaneous") {
    if (options.relaxation === "auto") {
      throw new RangeError('relaxation must be a number with schedule "simultaneous", got "auto"');
    }
    const settings = updateSettings({ ...options, passes: options.passes ?? 1 });
    checkDescent(settings);
    return () => settings;
  }
  const unrelaxed = options.relaxation === "auto" ? { ...options, relaxation: 1 } : options;
  // A listed schedule is run as given, and alpha = 0 is alone: nothing of a neighbour is used.
  if (preset === "paper" || Array.isArray(schedule) || options.alpha === 0) {
    const settling = updateSettings(unrelaxed, around);
    const settled = updateSettings(options, around);
    return (round) => (round <= SETTLING_ROUNDS ? settling : settled);
  }
  const mayStartElsewhere = damping === 1 || safeguard;
  const opening = updateSettings({ candidates: mayStartElsewhere, ...unrelaxed }, around);
  const later = updateSettings({ passes: 1, relaxation: "auto", ...options }, around);
  return (round) => (round <= OPENING_ROUNDS ? opening : later);
}

/** All devices at once descend only under these rules; others can rise, and cycle for ever. */
function checkDescent({ passes, relaxation, damping, safeguard, candidates, freshStarts }: UpdateSettings): void {
  const reason = 'with schedule "simultaneous" (else the objective can rise)';
  const single = passes === 1 && !candidates && freshStarts === 0;
  if (single && relaxation * damping > 1) {
    const got = `${relaxation} * ${damping} = ${relaxation * damping}`;
    throw new RangeError(`relaxation * damping must be at most 1 ${reason}, got ${got}`);
  }
  if (!single && !(safeguard && damping <= 0.5)) {
    const got = `passes ${passes}, candidates ${candidates}, freshStarts ${freshStarts}, safeguard ${safeguard}, damping ${damping}`;
    throw new RangeError(
      `passes above 1, candidates and freshStarts need safeguard: true and damping of at most 0.5 ${reason}, got ${got}`,
    );
  }
}
