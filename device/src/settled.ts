// When a device counts as settled: the one definition, which commands, the simulation and the fault runs share.

import type { DeviceStatus, NeighbourStatus } from "./loop/status.ts";

/**
 * A device is settled if it has nothing to send and has heard all of `neighbours` over links that stand. Its own phase
 * says only the first: a device that nobody has reached yet has nothing to send either. `enoughMove` is the largest last
 * move, as a share of the range, that also counts as nothing to send; without it the phase decides.
 */
export function isSettled(
  { phase, move }: Pick<DeviceStatus, "phase" | "move">,
  neighbours: readonly Pick<NeighbourStatus, "isConnected" | "age">[],
  enoughMove = 0,
): boolean {
  const isQuiet = phase === "settled" || phase === "alone" || (move !== null && move < enoughMove);
  return isQuiet && neighbours.every(({ isConnected, age }) => isConnected && age !== null);
}
