// The exports of the module for tiny devices, of which one at a time is in its memory.

export { enter, forget } from "./enter";
export { assign } from "./groups";
export { best, lloyd } from "./lloyd";
