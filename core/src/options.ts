// The options of a device update: defaults, limits, and the rules under which the objective never rises.

import { checkAtLeastZero, checkInteger, checkNumber, checkOneOf } from "./check.ts";
import { type Coupling, couplings } from "./coupling.ts";
import { jsKernel } from "./kernel/js.ts";
import type { Kernel } from "./kernel/kernel.ts";

export interface UpdateOptions {
  /** How strongly neighbours pull: 0 is alone. */
  alpha: number;
  /** Default "nearest". */
  coupling?: Coupling;
  /** At most this many times (E1) (E2) (E3) (M). Default 100, or 1 when all devices update at once. */
  passes?: number;
  /** A pass that lowers the local objective J by no more than tol * max(1, |J|) is the last. Default 1e-12. */
  tol?: number;
  /** Each pass moves by this multiple of the step of (M), in (0, 2). Default 1. */
  relaxation?: number;
  /** The update keeps this share of its whole move, in (0, 1]. Default 1. */
  damping?: number;
  /** Falls back to the first pass where later ones raise J with the input's labels and matches held fixed. */
  safeguard?: boolean;
  /** u of the device: how much its points count against the coupling. Default 1. */
  weight?: number;
  /** A(i, j) for each neighbour. Default 1. */
  edgeWeights?: ArrayLike<number>;
  kernel?: Kernel;
  /** @internal Test only: 1 gives the printed max(den, 1) of (M), see docs/paper.md#the-denominator. */
  denominatorFloor?: number;
}

/** Options with their defaults, checked. */
export type UpdateSettings = Required<Omit<UpdateOptions, "weight" | "edgeWeights">>;

export function updateSettings(options: UpdateOptions, defaultPasses = 100): UpdateSettings {
  const {
    alpha,
    coupling = "nearest",
    passes = defaultPasses,
    tol = 1e-12,
    relaxation = 1,
    damping = 1,
    safeguard = false,
    kernel = jsKernel,
    denominatorFloor = 0,
  } = options;
  checkAtLeastZero("alpha", alpha);
  checkOneOf("coupling", coupling, couplings);
  checkInteger("passes", passes, 1);
  checkAtLeastZero("tol", tol);
  checkNumber("relaxation", relaxation, (value) => value > 0 && value < 2, "a number above 0 and below 2");
  checkNumber("damping", damping, (value) => value > 0 && value <= 1, "a number above 0 and at most 1");
  return { alpha, coupling, passes, tol, relaxation, damping, safeguard, kernel, denominatorFloor };
}

/** All devices at once descend only under these rules; others can rise, and cycle for ever. */
export function checkDescent({ passes, relaxation, damping, safeguard }: UpdateSettings): void {
  const reason = 'with schedule "simultaneous" (else the objective can rise)';
  if (passes === 1 && relaxation * damping > 1) {
    const got = `${relaxation} * ${damping} = ${relaxation * damping}`;
    throw new RangeError(`relaxation * damping must be at most 1 ${reason}, got ${got}`);
  }
  if (passes > 1 && !(safeguard && damping <= 0.5)) {
    const got = `passes ${passes}, safeguard ${safeguard}, damping ${damping}`;
    throw new RangeError(`passes above 1 need safeguard: true and damping of at most 0.5 ${reason}, got ${got}`);
  }
}
