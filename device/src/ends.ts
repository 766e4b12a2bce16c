// Where updates of a device end that began at several starts. Rows in memory answer at once, rows elsewhere answer later.

import { type DeviceUpdate, type Matrix, updateDevice, updateDeviceAsync } from "@fedkm/core";
import { isBetterEnd } from "./choice.ts";
import type { Counted } from "./counted.ts";
import { type Elsewhere, statisticsAt } from "./elsewhere.ts";
import type { Study } from "./study.ts";

/** An update under way: where the device was, where it begins, and against whom. */
export interface Turn {
  readonly before: Matrix | undefined;
  readonly starts: readonly Matrix[];
  readonly neighbours: readonly Matrix[];
  readonly isOpening: boolean;
}

export function endsAtOnce({ points, weight, kernel }: Counted, study: Study, turn: Turn): DeviceUpdate[] {
  const options = { ...mannerOf(study, turn, weight), kernel };
  return turn.starts.map((start) => updateDevice(points, start, turn.neighbours, options));
}

export async function endsLater(
  elsewhere: Elsewhere,
  weight: number,
  study: Study,
  turn: Turn,
): Promise<DeviceUpdate[]> {
  const { rows, cols } = elsewhere.source;
  const asked = { rows, cols, statistics: (centroids: Matrix) => statisticsAt(elsewhere, centroids) };
  const ends: DeviceUpdate[] = [];
  for (const start of turn.starts) {
    ends.push(await updateDeviceAsync(asked, start, turn.neighbours, mannerOf(study, turn, weight)));
  }
  return ends;
}

function mannerOf({ k, alpha, coupling, neighbours: trust }: Study, { neighbours, isOpening }: Turn, weight: number) {
  const candidates = alpha > 0 && neighbours.every(({ rows }) => rows === k);
  // After the opening one pass, which is all that neighbours who move at the same time allow: several would want half
  // of the move only (damping), else they can end in a cycle. See docs/paper.md#gauss-seidel-not-jacobi.
  const manner = isOpening ? { candidates } : { passes: 1 };
  return { alpha, coupling, weight, robust: trust !== "trusted", ...manner } as const;
}

/** The best end, and whether it began elsewhere than the device was. */
export function bestEnd(
  { before, starts, neighbours }: Turn,
  [first, ...others]: readonly DeviceUpdate[],
  study: Study,
): { readonly end: DeviceUpdate; readonly isFresh: boolean } {
  let [end, isFresh] = [first, starts[0] !== before];
  for (const found of others) {
    if (isBetterEnd(found, end, neighbours, study)) [end, isFresh] = [found, true];
  }
  return { end, isFresh };
}
