// Passes over the rows of a device by several threads. Each has sums of its own, which are exact, so that adding them up
// gives the bits of one thread; labels and slack are per row and belong to whoever claimed the chunk.

import type { Exports } from "../exports.ts";
import type { Machine } from "../module.ts";
import { CHUNK, type Coding, type Passes } from "../passes.ts";
import { FIELD } from "../placedPoints.ts";
import { type Crew, share } from "./crew.ts";
import { clearDesks, createDesks, type Desks, layDesks } from "./desks.ts";
import { LAYOUT } from "./layout.ts";

/**
 * Costs per row, in units of one of k * cols products: what every row costs beside them, and what a column costs in passes
 * without centroids to choose from. A unit is roughly 0.04 ns.
 */
const COST = { row: 50, distance: 15, code: 100 };

/** A crew at work on a machine. */
interface Team {
  readonly machine: Machine;
  readonly exports: Exports;
  readonly crew: Crew;
  readonly desks: Desks;
  /** The control block as words and as numbers. */
  readonly words: Int32Array;
  readonly numbers: Float64Array;
}

/** What is too little to be shared is left to the machine's own passes. */
export function sharedPasses(machine: Machine, exports: Exports, crew: Crew): Passes {
  const { control, workers } = crew;
  const words = new Int32Array(control, 0, LAYOUT.words);
  const team = {
    machine,
    exports,
    crew,
    words,
    numbers: new Float64Array(control),
    desks: createDesks(machine, workers),
  };
  const colsOf = (state: number) => machine.i32()[state / 4 + FIELD.cols];
  const isWorthwhile = (rows: number, perRow: number) =>
    crew.living > 0 && rows > CHUNK && rows * (COST.row + perRow) >= crew.worthwhile;
  const assign = (pass: "small" | "plain" | "screen", state: number, rows: number) =>
    isWorthwhile(rows, colsOf(state) * machine.i32()[state / 4 + FIELD.k]) && assignTogether(team, pass, state, rows);
  return {
    assignRows(pass, state, rows) {
      if (!assign(pass, state, rows)) machine.assignRows(pass, state, rows);
    },
    assignTiles(state, rows) {
      return assign("small", state, rows) ? sumOfResults(team, rows) : machine.assignTiles(state, rows);
    },
    lossOfRows(state, rows, scratch) {
      const together = isWorthwhile(rows, COST.distance * colsOf(state)) && team.desks.reserve(32);
      return together ? lossTogether(team, state, rows, scratch) : machine.lossOfRows(state, rows, scratch);
    },
    distancesOfRows(state, from, to, centre, into) {
      if (!isWorthwhile(to - from, COST.distance * colsOf(state))) {
        return machine.distancesOfRows(state, from, to, centre, into);
      }
      words[LAYOUT.centre] = centre;
      for (let thread = 0; thread <= workers; thread++) address(team, thread, state, into);
      share(crew, exports, { pass: "distances", from, to });
    },
    encodeRows(state, rows, coding) {
      const together = isWorthwhile(rows, COST.code * coding.cols) && team.desks.reserve(8 * (coding.cols + 1));
      return together ? encodeTogether(team, state, rows, coding) : machine.encodeRows(state, rows, coding);
    },
  };
}

/** Tells a thread which State and which scratch to use. */
function address({ words }: Team, thread: number, state: number, scratch: number): void {
  words[LAYOUT.addresses + 2 * thread] = state;
  words[LAYOUT.addresses + 2 * thread + 1] = scratch;
}

/** What the pass returned for every chunk, added in their order. */
function sumOfResults({ numbers }: Team, rows: number): number {
  let sum = 0;
  for (let chunk = 0; chunk * CHUNK < rows; chunk++) sum += numbers[LAYOUT.results + chunk];
  return sum;
}

/** False when there is no memory for the workers' sums. */
function assignTogether(team: Team, pass: "small" | "plain" | "screen", state: number, rows: number): boolean {
  const { machine, exports, crew, desks } = team;
  if (!layDesks(machine, desks, crew.workers, state)) return false;
  address(team, 0, state, 0);
  for (let worker = 1; worker <= crew.workers; worker++) address(team, worker, desks.at(worker), 0);
  share(crew, exports, { pass, from: 0, to: rows });
  clearDesks(machine, desks, crew.workers, state);
  return true;
}

function lossTogether(team: Team, state: number, rows: number, scratch: number): number {
  const { exports, crew, desks } = team;
  address(team, 0, state, scratch);
  for (let worker = 1; worker <= crew.workers; worker++) address(team, worker, state, desks.at(worker));
  share(crew, exports, { pass: "loss", from: 0, to: rows });
  return sumOfResults(team, rows);
}

/** The calling thread copies; the others survey and code what has arrived; then all do what is left. */
function encodeTogether(
  team: Team,
  state: number,
  rows: number,
  { cols, largest, centre, step, radius, chunk, copy }: Coding,
): number {
  const { machine, exports, crew, desks, words, numbers } = team;
  const f64 = machine.f64();
  address(team, 0, state, largest);
  for (let worker = 1; worker <= crew.workers; worker++) {
    address(team, worker, state, desks.at(worker));
    f64.fill(0, desks.at(worker) / 8, desks.at(worker) / 8 + cols + 1);
  }
  words[LAYOUT.centre] = centre;
  numbers[LAYOUT.step] = step;
  numbers[LAYOUT.radius] = radius;
  const feed = (arrived: (rows: number) => void) => {
    for (let from = 0; from < rows; from += chunk) {
      const to = Math.min(rows, from + chunk);
      copy(from, to);
      arrived(to);
    }
  };
  share(crew, exports, { pass: "encode", from: 0, to: rows, feed });
  for (let worker = 1; worker <= crew.workers; worker++) {
    const from = desks.at(worker) / 8;
    for (let c = 0; c <= cols; c++) f64[largest / 8 + c] = Math.max(f64[largest / 8 + c], f64[from + c]);
  }
  let worst = 0;
  for (let at = 0; at * CHUNK < rows; at++) worst = Math.max(worst, numbers[LAYOUT.results + at]);
  return worst;
}
