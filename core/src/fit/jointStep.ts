// One step of all devices together: labels and matches are held fixed, and the centroids of a component move to the
// minimum of the quadratic that is left. Single updates hardly move what strongly coupled devices have in common; this
// does at once. It needs sums over the network: in one process, or where devices can sum. Others keep to updates.

import { dot } from "../data/matrix.ts";
import { componentsOf } from "../graph/graph.ts";
import { sendTraffic, sumTraffic } from "../graph/traffic.ts";
import { totalVariationOfSets } from "../update/coupling.ts";
import { type JointSystem, jointProduct, jointSystem } from "./jointSystem.ts";
import { adopt, type Network, refreshStatistics } from "./network.ts";
import { lastBits, restingMove } from "./tolerance.ts";

/** Each lowers the objective, so the next step goes on where this one was cut off. */
const MOST_ITERATIONS = 1000;

/** Objectives are sums of many squares: a rise by no more than this share is rounding. */
const ROUNDING_OF_SUMS = 1e-13;

export interface JointStep {
  /** Of a coordinate; 0 where all moves count as rest, or were taken back. */
  readonly largestMove: number;
  /** The largest move as a multiple of what counts as rest. */
  readonly relativeMove: number;
  /** Whether the labels at the new centroids are those that were held. */
  readonly keptLabels: boolean;
  /** Whether no component was cut off before its step was as accurate as asked. */
  readonly isAccurate: boolean;
}

/**
 * Moves every component to where its labels and matches want it, up to a share `accuracy` of the way. With these held the
 * objective falls, and new labels can only lower it further; what still rises, by rounding, is taken back.
 */
export function stepJointly(state: Network, accuracy: number): JointStep {
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
  countTraffic(state, iterations, isSent);
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
function proposeStep(state: Network, devices: readonly number[], step: Float64Array): number {
  const { sets, updated } = state;
  let largest = 0;
  let from = 0;
  for (const i of devices) {
    // What conjugate gradients leave are the last bits, also where tol is 0.
    const rest = Math.max(restingMove(state, i), lastBits(state, i));
    for (let at = sets.starts[i] * sets.cols; at < sets.starts[i + 1] * sets.cols; at++) {
      updated[at] = sets.data[at] + step[from++];
      const move = Math.abs(updated[at] - sets.data[at]);
      if (move > rest) largest = Math.max(largest, move / rest);
    }
  }
  return largest;
}

/** Makes `updated` the devices' centroids, or leaves all as it was; returns the largest move. */
function moveUnlessHigher(state: Network, devices: readonly number[]): number {
  const { sets, updated } = state;
  const before = componentObjective(state, devices);
  const old = devices.map((i) => sets.data.slice(sets.starts[i] * sets.cols, sets.starts[i + 1] * sets.cols));
  const moves = devices.map((i) => adopt(state, i));
  for (const i of devices) refreshStatistics(state, i);
  if (componentObjective(state, devices) <= before * (1 + ROUNDING_OF_SUMS)) {
    return moves.reduce((largest, move) => Math.max(largest, move));
  }
  devices.forEach((i, n) => {
    updated.set(old[n], sets.starts[i] * sets.cols);
    adopt(state, i);
    refreshStatistics(state, i);
  });
  return 0;
}

/** F of one component. */
function componentObjective(state: Network, devices: readonly number[]): number {
  const { sets, links, losses, pointScales, settings, matches, penalty } = state;
  const loss = devices.reduce((sum, i) => sum + pointScales[i] * losses[i], 0);
  return loss + settings.alpha * totalVariationOfSets(sets, links, settings.coupling, matches, penalty, devices);
}

function areEqual(a: Float64Array, b: Float64Array): boolean {
  return a.every((x, i) => x === b[i]);
}

/**
 * In every iteration the devices send as many numbers as their centroids have to their neighbours, and sum two. In the
 * end they send their new centroids, and sum whether anybody moves, whether labels changed, and the objective before and
 * after. Components go at the same time: the one with the most iterations counts.
 */
function countTraffic(state: Network, iterations: number, isSent: boolean): void {
  const { graph, sets } = state;
  const numbers = Array.from(graph.neighbours, (_, i) => (sets.starts[i + 1] - sets.starts[i]) * sets.cols);
  const sent = sendTraffic(graph, numbers);
  const sum = sumTraffic(graph, 2);
  const end = sumTraffic(graph, 4);
  const sends = iterations + (isSent ? 1 : 0);
  state.messages += sends * sent.messages + iterations * sum.messages + end.messages;
  state.bytes += sends * sent.bytes + iterations * sum.bytes + end.bytes;
}
