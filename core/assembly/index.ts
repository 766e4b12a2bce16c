// The exports of the SIMD kernel.

export { screen } from "./assign";
export { encode, survey } from "./codes";
export { distances, loss, plain } from "./rows";
export { arrange, small } from "./small";
