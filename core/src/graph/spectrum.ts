// Extreme eigenvalues of a graph's Laplacian, which set the pace of every consensus iteration.

import { checkGraph } from "../data/check.ts";
import { dot, removeProjection } from "../data/matrix.ts";
import { normalStream, randomStream } from "../data/random.ts";
import { connectedComponents, type Graph } from "./graph.ts";

/** Past this many Lanczos steps the extremes are estimates (up to it they are exact to rounding). */
const MOST_STEPS = 400;

/** Smaller eigenvalues, relative to the largest, are none. */
const NEGLIGIBLE = 1e-9;

/**
 * The smallest non-zero (l2) and the largest (ln) eigenvalue of the Laplacian, by Lanczos iteration with full
 * reorthogonalisation: no dense matrix, time O(steps * (edges + steps * n)). Several components and isolated devices
 * are fine; without any edge both are undefined and the answer is undefined.
 * @example laplacianExtremes(complete(2))?.largest.toFixed(3) // "2.000"
 */
export function laplacianExtremes(network: Graph): { readonly smallest: number; readonly largest: number } | undefined {
  checkGraph(network);
  const { size } = network;
  const project = projectionOffConstants(network);
  const start = Float64Array.from({ length: size }, normalStream(randomStream(0, "lanczos")));
  const diagonal: number[] = [];
  const offDiagonal: number[] = [];
  const basis: Float64Array[] = [];
  let next: Float64Array = start;
  project(next);
  let length = norm(next);
  // Without an edge nothing is left after the projection but rounding.
  if (network.neighbours.every((row) => row.length === 0)) return undefined;
  let scale = 0;
  while (basis.length < Math.min(size, MOST_STEPS)) {
    const current = next.map((x) => x / length);
    basis.push(current);
    next = applyLaplacian(network, current);
    const alpha = dot(next, current);
    diagonal.push(alpha);
    // Twice is enough: one pass of Gram-Schmidt leaves rounding that the second removes.
    for (let pass = 0; pass < 2; pass++) {
      project(next);
      for (const earlier of basis) removeProjection(earlier, next);
    }
    length = norm(next);
    scale = Math.max(scale, Math.abs(alpha), length);
    // The Krylov space is exhausted: it holds every distinct eigenvalue.
    if (length <= 1e-11 * scale) break;
    offDiagonal.push(length);
  }
  const largest = tridiagonalEigenvalue(diagonal, offDiagonal, diagonal.length - 1);
  // Where links are as weak as rounding, two parts count as not joined: their eigenvalue is noise of either sign.
  for (let i = 0; ; i++) {
    const smallest = tridiagonalEigenvalue(diagonal, offDiagonal, i);
    if (smallest > NEGLIGIBLE * largest) return { smallest, largest };
  }
}

/** The same where every link counts the same. */
export function unweightedLaplacianExtremes(network: Graph) {
  return laplacianExtremes({ ...network, weights: network.weights.map((row) => row.map(() => 1)) });
}

/** Takes out the part that is constant on each component, the Laplacian's null space. */
function projectionOffConstants(network: Graph): (/* IN OUT */ vector: Float64Array) => void {
  const component = connectedComponents(network);
  const counts = new Float64Array(network.size);
  for (const c of component) counts[c]++;
  const means = new Float64Array(network.size);
  return (vector) => {
    means.fill(0);
    for (let i = 0; i < vector.length; i++) means[component[i]] += vector[i] / counts[component[i]];
    for (let i = 0; i < vector.length; i++) vector[i] -= means[component[i]];
  };
}

function applyLaplacian({ size, neighbours, weights }: Graph, vector: Float64Array): Float64Array {
  const result = new Float64Array(size);
  for (let i = 0; i < size; i++) {
    const row = neighbours[i];
    for (let at = 0; at < row.length; at++) result[i] += weights[i][at] * (vector[i] - vector[row[at]]);
  }
  return result;
}

/** Eigenvalue number `index` (rising) of a symmetric tridiagonal matrix, by bisection on Sturm counts. */
function tridiagonalEigenvalue(diagonal: readonly number[], offDiagonal: readonly number[], index: number): number {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  const side = (i: number) => (i >= 0 && i < diagonal.length - 1 ? Math.abs(offDiagonal[i]) : 0);
  diagonal.forEach((value, i) => {
    low = Math.min(low, value - side(i - 1) - side(i));
    high = Math.max(high, value + side(i - 1) + side(i));
  });
  const below = (x: number) => {
    let count = 0;
    let pivot = 1;
    for (let i = 0; i < diagonal.length; i++) {
      pivot = diagonal[i] - x - (i === 0 ? 0 : (side(i - 1) * side(i - 1)) / pivot);
      if (pivot === 0) pivot = Number.MIN_VALUE;
      if (pivot < 0) count++;
    }
    return count;
  };
  for (let middle = (low + high) / 2; low < middle && middle < high; middle = (low + high) / 2) {
    if (below(middle) > index) high = middle;
    else low = middle;
  }
  return (low + high) / 2;
}

function norm(vector: Float64Array): number {
  return Math.sqrt(dot(vector, vector));
}
