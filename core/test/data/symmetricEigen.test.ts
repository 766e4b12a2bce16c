// Eigenvalues against a case computed by hand, and eigenvectors against their definition.

import { expect, test } from "vitest";
import { randomStream } from "../../src/data/random.ts";
import { symmetricEigen } from "../../src/data/symmetricEigen.ts";

test("symmetricEigen finds the eigenvalues of a matrix computed by hand", () => {
  // [[2, 1], [1, 2]] has 1 and 3.
  const { values } = symmetricEigen(Float64Array.of(2, 1, 1, 2), 2);
  expect(Array.from(values).sort((a, b) => a - b)).toEqual([expect.closeTo(1, 12), expect.closeTo(3, 12)]);
});

test("symmetricEigen gives orthonormal vectors with A v = lambda v", () => {
  const [size, random] = [7, randomStream(3)];
  const entries = new Float64Array(size * size);
  for (let i = 0; i < size; i++)
    for (let j = 0; j <= i; j++) entries[i * size + j] = entries[j * size + i] = random() - 0.5;
  const { values, vectors } = symmetricEigen(entries.slice(), size);
  const row = (v: number) => vectors.subarray(v * size, (v + 1) * size);
  const dot = (a: Float64Array, b: Float64Array) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  for (let v = 0; v < size; v++) {
    for (let w = 0; w < size; w++) expect(dot(row(v), row(w))).toBeCloseTo(v === w ? 1 : 0, 12);
    for (let i = 0; i < size; i++) {
      expect(dot(entries.subarray(i * size, (i + 1) * size), row(v))).toBeCloseTo(values[v] * row(v)[i], 12);
    }
  }
});
