// The options of a device update: what they mean, their limits, and the rules under which the objective never rises.

import { checkAtLeastZero, checkInteger, checkNumber, checkOneOf } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { describeArgument, type OptionNames, type Settled } from "../data/optionNames.ts";
import { checkKernel, type Kernel } from "../kernel/kernel.ts";
import { fastKernel } from "../kernel/wasm.ts";
import { type Coupling, couplings } from "./coupling.ts";

/** Options of `updateDevice`. */
export interface UpdateOptions {
  /** How strongly neighbours pull; with 0 every device is alone. */
  alpha: number;
  /** Default "nearest". */
  coupling?: Coupling | undefined;
  /** How often (E1) (E2) (E3) (M) are repeated, at most. */
  passes?: number | undefined;
  /** A pass that lowers the local objective J by no more than tol * max(1, |J|) is the last (0: until nothing moves). Default 1e-12. */
  tol?: number | undefined;
  /** Each pass moves by this multiple of the step of (M), in (0, 2). "auto": what suits the graph where one pass is
   *  made, but for the first rounds of a run, else 1. Descent is sure below 2. */
  relaxation?: number | "auto" | undefined;
  /** The update keeps this share of its whole move, in (0, 1]. Default 1. */
  damping?: number | undefined;
  /** Falls back to the first pass where the result raises J with the input's labels and matches held fixed. */
  safeguard?: boolean | undefined;
  /** Also starts from each neighbour's centroids, and keeps the best result. */
  candidates?: boolean | undefined;
  /** Also starts from this many k-means++ draws on the points and the neighbours' centroids together. */
  freshStarts?: number | undefined;
  /**
   * For networks where a neighbour may lie: pulls that are far from the others' and could do harm are limited, and no
   * centroid drifts far from the mean of its own points. The objective can then rise. "pull" leaves out the cap on the
   * drift, for measurements. Default false.
   */
  robust?: boolean | "pull" | undefined;
  /** u of the device: how much its points count against the coupling. Default 1. */
  weight?: number | undefined;
  /** A(i, j) for each neighbour. Default 1. */
  edgeWeights?: ArrayLike<number> | undefined;
  /** Of the fresh starts. Default 0. */
  seed?: number | undefined;
  /** What computes distances. Default: WebAssembly, or JavaScript with the same bits where that is not to be had. */
  kernel?: Kernel | undefined;
  /** @internal Test only: 1 gives the printed max(den, 1) of (M), see docs/paper.md#the-denominator. */
  denominatorFloor?: number | undefined;
}

/** The names of the options that a run over a network takes too. */
export const sharedOptionNames: OptionNames<Omit<UpdateOptions, "weight" | "edgeWeights">> = {
  alpha: true,
  coupling: true,
  passes: true,
  tol: true,
  relaxation: true,
  damping: true,
  safeguard: true,
  candidates: true,
  freshStarts: true,
  robust: true,
  seed: true,
  kernel: true,
  denominatorFloor: true,
};

/** Options with their defaults, checked. */
export type UpdateSettings = Settled<Omit<UpdateOptions, "weight" | "edgeWeights" | "seed" | "relaxation">> & {
  readonly relaxation: number;
};

/** What `relaxation: "auto"` looks at: clusters, and how strongly a device is linked (the mean of sum_j A(i, j)). */
export interface Neighbourhood {
  readonly k: number;
  readonly degree: number;
}

/**
 * The best over-relaxation of a linear sweep, 2 / (1 + sqrt(1 - rho^2)), with rho the share that neighbours have in a
 * centroid's mean: a cluster's points weigh about 1/k, each neighbour 2 alpha A (alpha A under transport).
 */
function suitedRelaxation(alpha: number, coupling: Coupling, around: Neighbourhood): number {
  const pull = pullOf(alpha, coupling, around);
  const rho = pull / (pull + 1 / around.k);
  // For an alpha beyond all bounds rho is 1 after rounding, and 2 would not descend.
  return Math.min(1.999, 2 / (1 + Math.sqrt(1 - rho * rho)));
}

function pullOf(alpha: number, coupling: Coupling, { degree }: Neighbourhood): number {
  return (coupling === "nearest" ? 2 : 1) * alpha * degree;
}

/** By how much a cluster's neighbours outweigh its points: an update goes about 1 / (1 + that) of the common way. */
export function pullRatio({ alpha, coupling }: UpdateSettings, around: Neighbourhood): number {
  return pullOf(alpha, coupling, around) * around.k;
}

export function updateSettings(options: UpdateOptions, around: Neighbourhood = { k: 1, degree: 0 }): UpdateSettings {
  const {
    alpha,
    coupling = defaults.coupling,
    passes = defaults.passes,
    tol = defaults.tol,
    relaxation: wanted = 1,
    damping = 1,
    safeguard = false,
    candidates = false,
    freshStarts = 0,
    robust = false,
    kernel = fastKernel,
    denominatorFloor = 0,
  } = options;
  checkAtLeastZero("alpha", alpha);
  checkOneOf("coupling", coupling, couplings);
  checkInteger("passes", passes, 1);
  checkAtLeastZero("tol", tol);
  const suited = () => (passes === 1 && damping === 1 ? suitedRelaxation(alpha, coupling, around) : 1);
  const relaxation = wanted === "auto" ? suited() : wanted;
  checkNumber("relaxation", relaxation, (value) => value > 0 && value < 2, 'a number above 0 and below 2, or "auto"');
  checkNumber("damping", damping, (value) => value > 0 && value <= 1, "a number above 0 and at most 1");
  checkInteger("freshStarts", freshStarts, 0);
  if (typeof robust !== "boolean" && robust !== "pull") {
    throw new RangeError(`robust must be true, false or "pull", got ${describeArgument(robust)}`);
  }
  checkKernel(kernel);
  if ((candidates || freshStarts > 0) && damping < 1 && !safeguard) {
    throw new RangeError(
      `candidates and freshStarts need safeguard: true with damping below 1 (else the objective can rise), got damping ${damping}`,
    );
  }
  return {
    alpha,
    coupling,
    passes,
    tol,
    relaxation,
    damping,
    safeguard,
    candidates,
    freshStarts,
    robust,
    kernel,
    denominatorFloor,
  };
}
