// Noise on a list of whole numbers.

import { discreteGaussian, type RandomBytes, type Variance } from "./discreteGaussian.ts";

export function withNoise(numbers: readonly bigint[], variance: Variance, bytes: RandomBytes): bigint[] {
  const draw = discreteGaussian(variance, bytes);
  return numbers.map((number) => number + draw());
}
