// The joint system: with labels and matches held fixed, GTVMin is one quadratic in the centroids of all devices, and its
// minimum solves linear equations. A device's own rows of them hold its points and its neighbours' centroids, no more.

import { match } from "../update/coupling.ts";
import type { Network } from "./network.ts";

/**
 * A and b - A w of a component. Its unknowns are the centroids of its devices, one device behind the other. Their points
 * hold them by their number, and every match is a spring between two of them. All columns have the same A.
 */
export interface JointSystem {
  readonly cols: number;
  /** u_i / m_i times the points of every centroid. */
  readonly own: Float64Array;
  /** The two centroids of every spring, and its alpha A(i, j). */
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  readonly stiffness: Float64Array;
  /** Of A. */
  readonly diagonal: Float64Array;
  /** b - A w: half the steepest descent at the centroids as they are. */
  readonly residual: Float64Array;
}

/** The system of these devices, who have no neighbours but each other, at their labels and matches. */
export function jointSystem(state: Network, devices: readonly number[]): JointSystem {
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
function springsOf({ sets, links, settings, matches }: Network, offsets: ReadonlyMap<number, number>) {
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
export function jointProduct(system: JointSystem, x: Float64Array, /* OUT */ into: Float64Array): void {
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
