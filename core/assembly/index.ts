// The exports of the SIMD kernel.

export { screen } from "./assign";
export { distances, encode, loss, plain, survey } from "./rows";
export { arrange, small, smallLoss } from "./small";
