// When a run counts as settled, and when it takes joint steps to get there.

import { stepJointly } from "./jointStep.ts";
import { type Network, noteMove } from "./network.ts";

/** Most runs settle in fewer rounds, for less traffic than joint steps take; these runs stay as they are. */
const PLAIN_ROUNDS = 100;

/** Strongly coupled runs do not. Their first rounds choose the labels that joint steps begin with. */
const STRONGLY_COUPLED_PLAIN_ROUNDS = 30;

/** Above this ratio of neighbours to points even well relaxed rounds need more than a hundred to settle. */
const STRONG_PULL = 100;

/** While labels change a joint step leaves this share of the way. Then an exact one goes from there to tol. */
const ROUGH = 1e-3;

/** Nearer than that is rounding. */
const LEAST_TOL = 1e-14;

export interface SettlingOptions {
  /** Whether there are joint steps at all. */
  readonly isJoint: boolean;
  /** By how much a cluster's neighbours outweigh its points. */
  readonly pullRatio: number;
}

/** What settling adds to a round: the largest move of a joint step, and whether the run has settled. */
export type Settling = (round: number) => { readonly largestMove: number; readonly converged: boolean };

/**
 * A run without joint steps has settled when every device was visited since the last move that counts. Where devices are
 * strongly coupled that says little: an update goes a small part of the way, however long that is. An exact joint step
 * goes all of it, so there the run has settled when nothing moves after such a step that changed no label.
 */
export function settlingOf(state: Network, { isJoint, pullRatio }: SettlingOptions): Settling {
  const isStrong = pullRatio > STRONG_PULL;
  const plainRounds = isStrong ? STRONGLY_COUPLED_PLAIN_ROUNDS : PLAIN_ROUNDS;
  const { tol } = state.settings;
  const exact = Math.min(ROUGH, Math.max(tol, LEAST_TOL) / ROUGH);
  // What an exact step leaves of its way. The equations are as ill-conditioned as neighbours outweigh points.
  const left = Math.max(exact, 16 * Number.EPSILON * pullRatio);
  let isExact = false;
  /** The moving steps until a joint step had gone all the way. */
  let confirmed = -1;
  return (round) => {
    const isStill = state.stillCount === state.graph.size;
    const isDue = isJoint && (round > plainRounds || (isStrong && isStill));
    if (!isDue || confirmed >= state.movingSteps) return { largestMove: 0, converged: isStill };
    const { largestMove, relativeMove, keptLabels, isAccurate } = stepJointly(state, isExact ? exact : ROUGH);
    if (largestMove > 0) noteMove(state);
    const isAllTheWay = isAccurate && (largestMove === 0 || (isExact && keptLabels && left * relativeMove <= 1));
    // With tol 0 the last bits may move for ever: once is enough.
    if (isAllTheWay) confirmed = tol === 0 ? Number.POSITIVE_INFINITY : state.movingSteps;
    isExact = keptLabels;
    return { largestMove, converged: isStill && isAllTheWay && largestMove === 0 };
  };
}
