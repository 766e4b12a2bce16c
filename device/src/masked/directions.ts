// The directions in which points vary most, from their covariance: a few steps of subspace iteration. Only sums,
// products, quotients and square roots, so that every device finds the same bits.

const ITERATIONS = 200;

export interface Direction {
  /** Of length 1. */
  readonly direction: Float64Array;
  readonly variance: number;
}

export function directionsOf(covariance: readonly Float64Array[], many: number): Direction[] {
  const size = covariance.length;
  // Begins with all directions a little different, so that none is orthogonal to what is looked for.
  let found: Float64Array[] = Array.from({ length: many }, (_, a) =>
    Float64Array.from({ length: size }, (_, i) => (i % many === a ? 1 : 0) + 1 / (2 + a + i)),
  );
  orthonormalize(found);
  for (let n = 0; n < ITERATIONS; n++) {
    found = found.map((direction) => timesMatrix(covariance, direction));
    orthonormalize(found);
  }
  return found.map((direction) => ({ direction, variance: dot(direction, timesMatrix(covariance, direction)) }));
}

function timesMatrix(matrix: readonly Float64Array[], vector: Float64Array): Float64Array {
  return Float64Array.from(matrix, (row) => dot(row, vector));
}

/** One after the other; what vanishes becomes the first feature that is still left. */
function orthonormalize(/* IN OUT */ vectors: Float64Array[]): void {
  vectors.forEach((vector, a) => {
    const clear = () => {
      for (const before of vectors.slice(0, a)) {
        const share = dot(before, vector);
        for (let i = 0; i < vector.length; i++) vector[i] -= share * before[i];
      }
    };
    const whole = Math.sqrt(dot(vector, vector));
    clear();
    for (let axis = 0; Math.sqrt(dot(vector, vector)) <= 1e-9 * whole && axis < vector.length; axis++) {
      vector.fill(0);
      vector[axis] = 1;
      clear();
      if (dot(vector, vector) > 1e-6) break;
    }
    const length = Math.sqrt(dot(vector, vector));
    for (let i = 0; i < vector.length; i++) vector[i] /= length;
  });
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}
