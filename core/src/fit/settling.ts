// When a run counts as settled, and when it takes joint steps to get there.

import { dot } from "../data/matrix.ts";
import { componentsOf } from "../graph/graph.ts";
import { addTraffic, sendTraffic, sumTraffic } from "../graph/traffic.ts";
import { couplingVariation, match } from "../update/coupling.ts";
import {
  adoptNetworkUpdate,
  countNetworkTraffic,
  LAST_BITS,
  largestNetworkCoordinate,
  largestRestingMove,
  type NetworkState,
  noteNetworkMove,
  type RoundResult,
  refreshNetworkStatistics,
} from "./network.ts";

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

/**
 * A run without joint steps has settled when every device was visited since the last move that counts. Where devices are
 * strongly coupled that says little: an update goes a small part of the way, however long that is. An exact joint step
 * goes all of it, so there the run has settled when nothing moves after such a step that changed no label. `isJoint`: there
 * are joint steps at all; `pullRatio`: by how much a cluster's neighbours outweigh its points. What is returned adds to a round
 * the largest move of a joint step, and whether the run has settled.
 */
export function settlingOf(
  state: NetworkState,
  { isJoint, pullRatio }: { readonly isJoint: boolean; readonly pullRatio: number },
): (round: number) => RoundResult {
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
    if (largestMove > 0) noteNetworkMove(state);
    const isAllTheWay = isAccurate && (largestMove === 0 || (isExact && keptLabels && left * relativeMove <= 1));
    // With tol 0 the last bits may move for ever: once is enough.
    if (isAllTheWay) confirmed = tol === 0 ? Number.POSITIVE_INFINITY : state.movingSteps;
    isExact = keptLabels;
    return { largestMove, converged: isStill && isAllTheWay && largestMove === 0 };
  };
}

// One step of all devices together: labels and matches are held fixed, and the centroids of a component move to the
// minimum of the quadratic that is left. Single updates hardly move what strongly coupled devices have in common; this
// does at once. It needs sums over the network: in one process, or where devices can sum. Others keep to updates.

/** Each lowers the objective, so the next step goes on where this one was cut off. */
const MOST_ITERATIONS = 1000;

/** Objectives are sums of many squares: a rise by no more than this share is rounding. */
const ROUNDING_OF_SUMS = 1e-13;

/**
 * Moves every component to where its labels and matches want it, up to a share `accuracy` of the way. With these held the
 * objective falls, and new labels can only lower it further; what still rises, by rounding, is taken back. Returns the
 * largest move of a coordinate (0 where all moves count as rest, or were taken back), the same as a multiple of rest, whether
 * the labels at the new centroids are those that were held, and whether no component was cut off before it was accurate.
 */
function stepJointly(state: NetworkState, accuracy: number) {
  const [counts, sums] = [state.counts.slice(), state.sums.slice()];
  let [largestMove, relativeMove] = [0, 0];
  let isAccurate = true;
  let isSent = false;
  let iterations = 0;
  for (const devices of componentsOf(state.graph)) {
    // Who is alone has nobody to wait for.
    if (devices.length === 1) continue;
    const solution = conjugateGradients(jointSystem(state, devices), accuracy);
    isAccurate &&= solution.isAccurate;
    iterations = Math.max(iterations, solution.iterations);
    const proposed = proposeStep(state, devices, solution.step);
    if (proposed === 0) continue;
    isSent = true;
    const move = moveUnlessHigher(state, devices);
    if (move > 0) relativeMove = Math.max(relativeMove, proposed);
    largestMove = Math.max(largestMove, move);
  }
  countStep(state, iterations, isSent);
  const keptLabels = areEqual(counts, state.counts) && areEqual(sums, state.sums);
  return { largestMove, relativeMove, keptLabels, isAccurate };
}

/**
 * Conjugate gradients, with the diagonal divided out: a centroid with many neighbours is as stiff as one with few. In the
 * form of Chronopoulos and Gear, where both inner products of an iteration come from one sum.
 */
function conjugateGradients(system: JointSystem, accuracy: number) {
  const residual = system.residual.slice();
  const [step, scaled, product, direction, directionProduct] = Array.from({ length: 5 }, () => residual.map(() => 0));
  divide(residual, system, scaled);
  jointProduct(system, scaled, product);
  let left = dot(residual, scaled);
  let energy = dot(scaled, product);
  const enough = accuracy * accuracy * left;
  let ratio = 0;
  let iterations = 1;
  // Rounding ends what exact numbers would not: a direction without energy.
  while (left > enough && energy > 0 && iterations < MOST_ITERATIONS) {
    const length = left / energy;
    for (let at = 0; at < step.length; at++) {
      direction[at] = scaled[at] + ratio * direction[at];
      directionProduct[at] = product[at] + ratio * directionProduct[at];
      step[at] += length * direction[at];
      residual[at] -= length * directionProduct[at];
    }
    divide(residual, system, scaled);
    jointProduct(system, scaled, product);
    const next = dot(residual, scaled);
    ratio = next / left;
    energy = dot(scaled, product) - ratio * ratio * energy;
    left = next;
    iterations++;
  }
  return { step, iterations, isAccurate: left <= enough };
}

/** A centroid without points and without neighbours has nothing on its diagonal, and nothing moves it. */
function divide(residual: Float64Array, { diagonal, cols }: JointSystem, /* OUT */ into: Float64Array): void {
  for (let row = 0, at = 0; row < diagonal.length; row++) {
    for (let c = 0; c < cols; c++, at++) into[at] = diagonal[row] > 0 ? residual[at] / diagonal[row] : 0;
  }
}

/** Writes the new centroids into `updated`; returns the largest move as a multiple of rest, or 0 where all is rest. */
function proposeStep(state: NetworkState, devices: readonly number[], step: Float64Array): number {
  const { sets, updated } = state;
  let largest = 0;
  let from = 0;
  for (const i of devices) {
    // What conjugate gradients leave are the last bits, also where tol is 0.
    const rest = Math.max(largestRestingMove(state, i), LAST_BITS * largestNetworkCoordinate(state, i));
    for (let at = sets.starts[i] * sets.cols; at < sets.starts[i + 1] * sets.cols; at++) {
      updated[at] = sets.data[at] + step[from++];
      const move = Math.abs(updated[at] - sets.data[at]);
      if (move > rest) largest = Math.max(largest, move / rest);
    }
  }
  return largest;
}

/** Makes `updated` the devices' centroids, or leaves all as it was; returns the largest move. */
function moveUnlessHigher(state: NetworkState, devices: readonly number[]): number {
  const { sets, updated } = state;
  const before = componentObjective(state, devices);
  const old = devices.map((i) => sets.data.slice(sets.starts[i] * sets.cols, sets.starts[i + 1] * sets.cols));
  const moves = devices.map((i) => adoptNetworkUpdate(state, i));
  for (const i of devices) refreshNetworkStatistics(state, i);
  if (componentObjective(state, devices) <= before * (1 + ROUNDING_OF_SUMS)) {
    return moves.reduce((largest, move) => Math.max(largest, move));
  }
  devices.forEach((i, n) => {
    updated.set(old[n], sets.starts[i] * sets.cols);
    adoptNetworkUpdate(state, i);
    refreshNetworkStatistics(state, i);
  });
  return 0;
}

function componentObjective(state: NetworkState, devices: readonly number[]): number {
  const { sets, links, losses, pointScales, settings, matches, penalty } = state;
  const loss = devices.reduce((sum, i) => sum + pointScales[i] * losses[i], 0);
  return loss + settings.alpha * couplingVariation(sets, links, settings.coupling, matches, penalty, devices);
}

function areEqual(a: Float64Array, b: Float64Array): boolean {
  return a.every((x, i) => x === b[i]);
}

/**
 * In every iteration the devices send as many numbers as their centroids have to their neighbours, and sum two. In the
 * end they send their new centroids, and sum whether anybody moves, whether labels changed, and the objective before and
 * after. Components go at the same time: the one with the most iterations counts.
 */
function countStep(state: NetworkState, iterations: number, isSent: boolean): void {
  const { graph, sets } = state;
  const numbers = Array.from(graph.neighbours, (_, i) => (sets.starts[i + 1] - sets.starts[i]) * sets.cols);
  const sent = sendTraffic(graph, numbers);
  const iteration = addTraffic(sent, sumTraffic(graph, 2));
  for (let n = 0; n < iterations; n++) countNetworkTraffic(state, iteration);
  if (isSent) countNetworkTraffic(state, sent);
  countNetworkTraffic(state, sumTraffic(graph, 4));
}

// The joint system: with labels and matches held fixed, GTVMin is one quadratic in the centroids of all devices, and its
// minimum solves linear equations. A device's own rows of them hold its points and its neighbours' centroids, no more.

/**
 * A and b - A w of a component. Its unknowns are the centroids of its devices, one device behind the other. Their points
 * hold them by their number, and every match is a spring between two of them. All columns have the same A.
 */
interface JointSystem {
  readonly cols: number;
  /** u_i / m_i times the points of every centroid. */
  readonly own: Float64Array;
  /** The two centroids of every spring, and its alpha A(i, j). */
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  readonly stiffness: Float64Array;
  readonly diagonal: Float64Array;
  /** b - A w: half the steepest descent at the centroids as they are. */
  readonly residual: Float64Array;
}

/** The system of these devices, who have no neighbours but each other, at their labels and matches. */
function jointSystem(state: NetworkState, devices: readonly number[]): JointSystem {
  const { sets, counts, sums, pointScales } = state;
  const { starts, cols } = sets;
  const offsets = new Map<number, number>();
  let rows = 0;
  for (const i of devices) {
    offsets.set(i, rows);
    rows += starts[i + 1] - starts[i];
  }
  const own = new Float64Array(rows);
  const residual = new Float64Array(rows * cols);
  const current = new Float64Array(rows * cols);
  for (const [i, offset] of offsets) {
    for (let row = offset, from = starts[i]; from < starts[i + 1]; row++, from++) {
      own[row] = pointScales[i] * counts[from];
      for (let c = 0; c < cols; c++) {
        const at = from * cols + c;
        current[row * cols + c] = sets.data[at];
        residual[row * cols + c] = pointScales[i] * (sums[at] - counts[from] * sets.data[at]);
      }
    }
  }
  const springs = springsOf(state, offsets);
  const diagonal = own.slice();
  springs.stiffness.forEach((pull, spring) => {
    diagonal[springs.from[spring]] += pull;
    diagonal[springs.to[spring]] += pull;
  });
  const system = { cols, own, ...springs, diagonal, residual };
  // Differences of centroids, not of products: an offset of the data costs no digits.
  addSprings(system, current, -1, residual);
  return system;
}

/** One spring for every match of every link. `offsets` has the first unknown of every device. */
function springsOf({ sets, links, settings, matches }: NetworkState, offsets: ReadonlyMap<number, number>) {
  const { data, starts, cols } = sets;
  const from: number[] = [];
  const to: number[] = [];
  const stiffness: number[] = [];
  for (const [i, offset] of offsets) {
    for (let n = links.starts[i]; n < links.starts[i + 1]; n++) {
      const j = links.devices[n];
      // A link once: both ends see the same matches.
      if (j < i) continue;
      const [rows, otherRows] = [starts[i + 1] - starts[i], starts[j + 1] - starts[j]];
      const other = offsets.get(j) as number;
      match(settings.coupling, data, starts[i], rows, data, starts[j], otherRows, cols, matches);
      for (let c = 0; c < rows; c++) {
        from.push(offset + c);
        to.push(other + matches.toOther[c]);
      }
      for (let c = 0; c < otherRows && settings.coupling === "nearest"; c++) {
        from.push(offset + matches.toOwn[c]);
        to.push(other + c);
      }
      while (stiffness.length < from.length) stiffness.push(settings.alpha * links.weights[n]);
    }
  }
  return { from: Uint32Array.from(from), to: Uint32Array.from(to), stiffness: Float64Array.from(stiffness) };
}

/** A x. */
function jointProduct(system: JointSystem, x: Float64Array, /* OUT */ into: Float64Array): void {
  const { own, cols } = system;
  for (let row = 0, at = 0; row < own.length; row++) for (let c = 0; c < cols; c++, at++) into[at] = own[row] * x[at];
  addSprings(system, x, 1, into);
}

function addSprings(
  { cols, from, to, stiffness }: Pick<JointSystem, "cols" | "from" | "to" | "stiffness">,
  x: Float64Array,
  sign: 1 | -1,
  /* IN OUT */ into: Float64Array,
): void {
  for (let spring = 0; spring < stiffness.length; spring++) {
    const pull = sign * stiffness[spring];
    for (let c = 0, a = from[spring] * cols, b = to[spring] * cols; c < cols; c++, a++, b++) {
      const force = pull * (x[a] - x[b]);
      into[a] += force;
      into[b] -= force;
    }
  }
}
