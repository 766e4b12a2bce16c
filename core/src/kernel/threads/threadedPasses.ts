// Passes over the rows of a device by several threads. Each has sums of its own, which are exact, so that adding them up
// gives the bits of one thread; labels and slack are per row and belong to whoever claimed the chunk.

import { listBytes, scoreBytes } from "../assign.ts";
import type { Block, Machine } from "../module.ts";
import { CHUNK, type Coding, type Exports, type Passes } from "../passes.ts";
import { FIELD, STATE_BYTES } from "../placedPoints.ts";
import { type Crew, LAYOUT, share } from "./pool.ts";

// What each worker needs for itself in the kernel's memory while it assigns rows: a State, scratch, sums of its own.

/** Stretches begin on cache lines of their own: two, because processors fetch lines in pairs. */
const LINE = 128;

/** One stretch of memory for every worker, kept from job to job. */
interface Desks {
  /** Makes every stretch at least so large; false when memory is full. */
  reserve(bytes: number): boolean;
  /** Address of a worker's stretch; workers count from 1. */
  at(worker: number): number;
}

function createDesks(machine: Machine, workers: number): Desks {
  let block: Block | undefined;
  let first = 0;
  let stride = 0;
  return {
    reserve(bytes) {
      if (bytes <= stride) return true;
      if (block !== undefined) machine.free(block);
      stride = roundUp(bytes);
      block = machine.allocate(workers * stride + LINE);
      if (block === undefined) stride = 0;
      else first = roundUp(block.at);
      return block !== undefined;
    },
    at: (worker) => first + (worker - 1) * stride,
  };
}

/** Where things lie on a desk, from its address on. */
interface Places {
  readonly scores: number;
  readonly active: number;
  readonly packed: number;
  readonly sums: number;
  readonly end: number;
}

/** Readies all desks for a pass over the device at `state`; false when memory is full. */
function layDesks(machine: Machine, desks: Desks, workers: number, state: number): boolean {
  const places = placesFor(machine, state);
  if (!desks.reserve(places.end)) return false;
  const words = machine.i32();
  for (let worker = 1; worker <= workers; worker++) {
    const desk = desks.at(worker);
    const own = desk / 4;
    words.copyWithin(own, state / 4, (state + STATE_BYTES) / 4);
    words[own + FIELD.scores] = desk + places.scores;
    words[own + FIELD.active] = desk + places.active;
    words[own + FIELD.packed] = desk + places.packed;
    words[own + FIELD.sums] = desk + places.sums;
    words[own + FIELD.looked] = 0;
    words[own + FIELD.verified] = 0;
    machine.f64().fill(0, (desk + places.sums) / 8, (desk + places.end) / 8);
  }
  return true;
}

/** Adds what the workers have left on their desks to the device: parts of sums are exact, so any order will do. */
function clearDesks(machine: Machine, desks: Desks, workers: number, state: number): void {
  const { sums, end } = placesFor(machine, state);
  const words = machine.i32();
  const f64 = machine.f64();
  const into = (words[state / 4 + FIELD.sums] >>> 0) / 8;
  for (let worker = 1; worker <= workers; worker++) {
    const desk = desks.at(worker);
    const from = (desk + sums) / 8;
    for (let i = 0; i < (end - sums) / 8; i++) f64[into + i] += f64[from + i];
    words[state / 4 + FIELD.looked] += words[desk / 4 + FIELD.looked];
    words[state / 4 + FIELD.verified] += words[desk / 4 + FIELD.verified];
  }
}

function placesFor(machine: Machine, state: number): Places {
  const words = machine.i32().subarray(state / 4, (state + STATE_BYTES) / 4);
  const scores = roundUp(STATE_BYTES);
  const active = scores + roundUp(scoreBytes(words[FIELD.k]));
  const packed = active + roundUp(listBytes(words[FIELD.k]));
  const sums = packed + roundUp(32 * words[FIELD.pairs]);
  return { scores, active, packed, sums, end: sums + 16 * words[FIELD.k] * (words[FIELD.cols] + 1) };
}

function roundUp(bytes: number): number {
  return Math.ceil(bytes / LINE) * LINE;
}

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
