// Who updates when: a round as an order of devices cut into steps, each step updated at once from the state before it.

import { checkInteger, checkOneOf } from "../data/check.ts";
import type { Random } from "../data/random.ts";
import type { Graph } from "../graph/graph.ts";

/**
 * cyclic: one device at a time, in order. random: one at a time, drawn with the seed. coloured: independent sets of a
 * greedy colouring, each set at once. simultaneous: all from the previous round. A list: its steps as given, one a round.
 */
export type Schedule = "cyclic" | "random" | "coloured" | "simultaneous" | readonly (readonly number[])[];

/** Step s is the devices order[ends[s - 1]] up to order[ends[s]]. */
export interface RoundOrder {
  readonly order: Uint32Array;
  readonly ends: Uint32Array;
}

const names = ["cyclic", "random", "coloured", "simultaneous"];

export function checkSchedule(schedule: Schedule, size: number) {
  if (!Array.isArray(schedule)) return checkOneOf("schedule", schedule, names);
  schedule.forEach((step: readonly number[], s) => {
    if (!Array.isArray(step)) throw new TypeError(`schedule[${s}] must be a list of devices, got ${String(step)}`);
    for (const device of step) {
      checkInteger(`schedule[${s}]: device`, device, 0, size - 1, `there are ${size} devices`);
    }
    if (new Set(step).size !== step.length) throw new RangeError(`schedule[${s}] must name every device once`);
  });
}

/** One order for each round, without end; a listed schedule ends with its list. */
export function* roundOrders(schedule: Schedule, network: Graph, random: Random): Generator<RoundOrder> {
  const { size } = network;
  const everyDevice = Uint32Array.from({ length: size }, (_, i) => i);
  const oneByOne = everyDevice.map((i) => i + 1);
  if (schedule === "cyclic") for (;;) yield { order: everyDevice, ends: oneByOne };
  if (schedule === "random") {
    for (;;) yield { order: everyDevice.map(() => Math.floor(random() * size)), ends: oneByOne };
  }
  if (schedule === "simultaneous") for (;;) yield { order: everyDevice, ends: Uint32Array.of(size) };
  if (schedule === "coloured") {
    const coloured = colourOrder(network);
    for (;;) yield coloured;
  }
  for (const step of schedule as readonly (readonly number[])[]) {
    yield { order: Uint32Array.from(step), ends: Uint32Array.of(step.length) };
  }
}

/** Greedy colouring in index order: neighbours never share a colour, at most 1 + largest degree colours. */
function colourOrder({ size, neighbours }: Graph): RoundOrder {
  const colours = new Int32Array(size).fill(-1);
  const classes: number[][] = [];
  for (let i = 0; i < size; i++) {
    const taken = new Set(Array.from(neighbours[i], (j) => colours[j]));
    let colour = 0;
    while (taken.has(colour)) colour++;
    colours[i] = colour;
    if (colour === classes.length) classes.push([]);
    classes[colour].push(i);
  }
  let end = 0;
  return {
    order: Uint32Array.from(classes.flat()),
    ends: Uint32Array.from(classes, (members) => {
      end += members.length;
      return end;
    }),
  };
}
