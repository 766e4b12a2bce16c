// Fresh starts of a device update: k-means++ draws on the points and the neighbours' centroids together.

import type { Matrix } from "../data/matrix.ts";
import type { Random } from "../data/random.ts";
import { jsKernel } from "../kernel/js.ts";
import { plusPlus } from "../kernel/seeding.ts";
import type { UpdateState } from "./updateState.ts";

/** Draws on the augmented data: points weigh u_i / m_i, a neighbour's centroids alpha A(i, j). None if it is too small. */
export function drawFreshStarts(points: Matrix, update: UpdateState, random: Random): Float64Array[] {
  const { k, cols, links, firstLink, endLink, pointScale, sets, settings } = update;
  const others = Array.from(links.devices.subarray(firstLink, endLink), (j, n) => ({
    from: sets.starts[j],
    to: sets.starts[j + 1],
    weight: links.weights[firstLink + n],
  }));
  const rows = points.rows + others.reduce((sum, { from, to }) => sum + to - from, 0);
  if (rows < k) return [];
  const data = new Float64Array(rows * cols);
  const weights = new Float64Array(rows).fill(pointScale);
  data.set(points.data);
  let at = points.rows;
  for (const { from, to, weight } of others) {
    data.set(sets.data.subarray(from * cols, to * cols), at * cols);
    weights.fill(settings.alpha * weight, at, at + to - from);
    at += to - from;
  }
  if (weights.every((weight) => weight === 0)) return [];
  const augmented = { data, rows, cols };
  const run = { points: augmented, weights, prepared: jsKernel.prepare(augmented, weights), k };
  return Array.from({ length: settings.freshStarts }, () => plusPlus(run, random));
}
