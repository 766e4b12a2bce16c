// Passes over the rows of a device by several threads. Each has sums of its own, which are exact, so that adding them up
// gives the bits of one thread; labels and slack are per row and belong to whoever claimed the chunk.

import { kernelListBytes, kernelScoreBytes } from "../assign.ts";
import { CHUNK, type Coding, type KernelExports, type MemoryBlock, type Passes, type WasmMachine } from "../module.ts";
import { COUNTERS, FIELD, STATE_BYTES } from "../placedPoints.ts";
import { LAYOUT, runThreadJob, type ThreadPool } from "./pool.ts";

/** Stretches begin on cache lines of their own: two, because processors fetch lines in pairs. */
const LINE = 128;

/** One stretch of memory for every worker, kept from job to job. */
function createScratch(machine: WasmMachine, workers: number) {
  let block: MemoryBlock | undefined;
  let first = 0;
  let stride = 0;
  return {
    /** Makes every stretch at least so large; false when memory is full. */
    reserve(bytes: number): boolean {
      if (bytes <= stride) return true;
      if (block !== undefined) machine.free(block);
      stride = roundUp(bytes);
      block = machine.allocate(workers * stride + LINE);
      if (block === undefined) stride = 0;
      else first = roundUp(block.at);
      return block !== undefined;
    },
    /** Address of a worker's stretch; workers count from 1. */
    at: (worker: number) => first + (worker - 1) * stride,
  };
}

/** Makes the scratch of all workers ready for a pass over the device at `state`; false when memory is full. */
function prepareScratch({ machine, workerScratch, pool: { workers } }: SharedMachine, state: number): boolean {
  const layout = scratchLayout(machine, state);
  if (!workerScratch.reserve(layout.end)) return false;
  const words = machine.i32();
  for (let worker = 1; worker <= workers; worker++) {
    const stretch = workerScratch.at(worker);
    const own = stretch / 4;
    words.copyWithin(own, state / 4, (state + STATE_BYTES) / 4);
    words[own + FIELD.scores] = stretch + layout.scores;
    words[own + FIELD.active] = stretch + layout.active;
    words[own + FIELD.packed] = stretch + layout.packed;
    words[own + FIELD.sums] = stretch + layout.sums;
    for (const counter of COUNTERS) words[own + counter] = 0;
    if (words[own + FIELD.widened] !== 0) words[own + FIELD.widened] = stretch + layout.widened;
  }
  return true;
}

/** Adds what the workers have left in their scratch to the device: parts of sums are exact, so any order will do. */
function addScratchSums({ machine, workerScratch, pool: { workers } }: SharedMachine, state: number): void {
  const { sums, end } = scratchLayout(machine, state);
  const words = machine.i32();
  const f64 = machine.f64();
  const into = (words[state / 4 + FIELD.sums] >>> 0) / 8;
  for (let worker = 1; worker <= workers; worker++) {
    const stretch = workerScratch.at(worker);
    const from = (stretch + sums) / 8;
    for (let i = 0; i < (end - sums) / 8; i++) f64[into + i] += f64[from + i];
    for (const counter of COUNTERS) words[state / 4 + counter] += words[stretch / 4 + counter];
  }
}

/** Where things lie in a stretch, from its address on. */
function scratchLayout(machine: WasmMachine, state: number) {
  const words = machine.i32().subarray(state / 4, (state + STATE_BYTES) / 4);
  const scores = roundUp(STATE_BYTES);
  const active = scores + roundUp(kernelScoreBytes(words[FIELD.k]));
  const packed = active + roundUp(kernelListBytes(words[FIELD.k]));
  const widened = packed + roundUp(32 * words[FIELD.pairs]);
  const sums = widened + roundUp(32 * words[FIELD.cols]);
  // Before there are clusters, the largest magnitudes of the columns lie where their sums will.
  return {
    scores,
    active,
    packed,
    widened,
    sums,
    end: sums + 16 * Math.max(1, words[FIELD.k]) * (words[FIELD.cols] + 1),
  };
}

function roundUp(bytes: number): number {
  return Math.ceil(bytes / LINE) * LINE;
}

/**
 * Costs per row, in units of one of k * cols products: what every row costs beside them, and what a column costs in passes
 * without centroids to choose from. A unit is roughly 0.04 ns.
 */
const COST = { row: 50, distance: 15, code: 100 };

type SharedMachine = ReturnType<typeof sharedMachine>;

/** A pool at work on a machine. */
function sharedMachine(machine: WasmMachine, exports: KernelExports, pool: ThreadPool) {
  /** The control block as words and as numbers. */
  const words = new Int32Array(pool.control, 0, LAYOUT.words);
  const numbers = new Float64Array(pool.control);
  return { machine, exports, pool, words, numbers, workerScratch: createScratch(machine, pool.workers) };
}

/** What is too little to be shared is left to the machine's own passes. */
export function threadedPasses(machine: WasmMachine, exports: KernelExports, pool: ThreadPool): Passes {
  const shared = sharedMachine(machine, exports, pool);
  const colsOf = (state: number) => machine.i32()[state / 4 + FIELD.cols];
  const isWorthwhile = (rows: number, perRow: number) =>
    pool.living > 0 && rows > CHUNK && rows * (COST.row + perRow) >= pool.worthwhile;
  const assign = (pass: "small" | "plain" | "screen", state: number, rows: number) =>
    isWorthwhile(rows, colsOf(state) * machine.i32()[state / 4 + FIELD.k]) && assignTogether(shared, pass, state, rows);
  return {
    assignRows(pass, state, rows) {
      if (!assign(pass, state, rows)) machine.assignRows(pass, state, rows);
    },
    assignTiles(state, rows, before) {
      return assign("small", state, rows)
        ? sumOfResults(shared, rows, before)
        : machine.assignTiles(state, rows, before);
    },
    lossOfRows(state, rows, scratch, before) {
      if (!isWorthwhile(rows, COST.distance * colsOf(state)) || !prepareScratch(shared, state)) {
        return machine.lossOfRows(state, rows, scratch, before);
      }
      const { scores } = scratchLayout(machine, state);
      addressAll(shared, state, (thread) => (thread === 0 ? scratch : shared.workerScratch.at(thread) + scores));
      runThreadJob(pool, exports, { pass: "loss", from: 0, to: rows });
      return sumOfResults(shared, rows, before);
    },
    distancesOfRows(state, from, to, origin, into) {
      if (!isWorthwhile(to - from, COST.distance * colsOf(state)) || !prepareScratch(shared, state)) {
        return machine.distancesOfRows(state, from, to, origin, into);
      }
      shared.words[LAYOUT.origin] = origin;
      addressAll(shared, state, () => into);
      runThreadJob(pool, exports, { pass: "distances", from, to });
    },
    encodeRows(state, rows, coding) {
      const together = isWorthwhile(rows, COST.code * coding.cols) && prepareScratch(shared, state);
      return together ? encodeTogether(shared, state, rows, coding) : machine.encodeRows(state, rows, coding);
    },
  };
}

/** Tells every thread which State and which scratch to use. Workers have a State of their own; thread 0 is the one that asks. */
function addressAll(shared: SharedMachine, state: number, scratch: (thread: number) => number): void {
  const { words, pool, workerScratch } = shared;
  for (let thread = 0; thread <= pool.workers; thread++) {
    words[LAYOUT.addresses + 2 * thread] = thread === 0 ? state : workerScratch.at(thread);
    words[LAYOUT.addresses + 2 * thread + 1] = scratch(thread);
  }
}

/** What the pass returned for every chunk, added in their order to what came before. */
function sumOfResults({ numbers }: SharedMachine, rows: number, before: number): number {
  let sum = before;
  for (let chunk = 0; chunk * CHUNK < rows; chunk++) sum += numbers[LAYOUT.results + chunk];
  return sum;
}

/** False when there is no memory for the workers' sums. */
function assignTogether(
  shared: SharedMachine,
  pass: "small" | "plain" | "screen",
  state: number,
  rows: number,
): boolean {
  const { machine, exports, pool, workerScratch } = shared;
  if (!prepareScratch(shared, state)) return false;
  const { sums, end } = scratchLayout(machine, state);
  for (let worker = 1; worker <= pool.workers; worker++) {
    const stretch = workerScratch.at(worker);
    machine.f64().fill(0, (stretch + sums) / 8, (stretch + end) / 8);
  }
  addressAll(shared, state, () => 0);
  runThreadJob(pool, exports, { pass, from: 0, to: rows });
  addScratchSums(shared, state);
  return true;
}

/** The calling thread copies; the others survey and code what has arrived; then all do what is left. */
function encodeTogether(
  shared: SharedMachine,
  state: number,
  rows: number,
  { cols, largest, origin, step, radius, chunk, copy }: Coding,
): number {
  const { machine, exports, pool, workerScratch, words, numbers } = shared;
  const f64 = machine.f64();
  const { sums } = scratchLayout(machine, state);
  const largestOf = (thread: number) => (thread === 0 ? largest : workerScratch.at(thread) + sums);
  addressAll(shared, state, largestOf);
  for (let worker = 1; worker <= pool.workers; worker++)
    f64.fill(0, largestOf(worker) / 8, largestOf(worker) / 8 + cols + 1);
  words[LAYOUT.origin] = origin;
  numbers[LAYOUT.step] = step;
  numbers[LAYOUT.radius] = radius;
  const feed = (arrived: (rows: number) => void) => {
    for (let from = 0; from < rows; from += chunk) {
      const to = Math.min(rows, from + chunk);
      copy(from, to);
      arrived(to);
    }
  };
  runThreadJob(pool, exports, { pass: "encode", from: 0, to: rows, feed });
  for (let worker = 1; worker <= pool.workers; worker++) {
    const from = largestOf(worker) / 8;
    for (let c = 0; c <= cols; c++) f64[largest / 8 + c] = Math.max(f64[largest / 8 + c], f64[from + c]);
  }
  let worst = 0;
  for (let at = 0; at * CHUNK < rows; at++) worst = Math.max(worst, numbers[LAYOUT.results + at]);
  return worst;
}
