// The public API of @fedkm/device, one line per file.

export { type Clock, realClock } from "./clock.ts";
export type { Network, NetworkListener } from "./network.ts";
