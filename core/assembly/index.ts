// The exports of the SIMD kernel.

export { screen } from "./assign";
export { distances, encode, loss, plain, survey } from "./rows";
export { arrange, small } from "./small";
export { tinyAssign, tinyLloyd, tinyLoad } from "./tiny";
