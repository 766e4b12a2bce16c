// A pool of threads that share one job at a time: the block of memory that they share, what a worker does, and how the
// calling thread opens a job and waits for its end.

import { CHUNK, type KernelExports, type WasmMemory } from "../module.ts";

/** Threads of a pool at most, the one that asks included. */
export const MOST_THREADS = 64;

/** The passes a job may be: functions that the kernel exports. */
const PASSES = ["small", "plain", "screen", "loss", "distances", "encode"] as const;

/**
 * Numbers of 32-bit words, unless said otherwise. Words that several threads write lie on cache lines of their own.
 * Workers get this as data: the text of their program cannot see a constant of this file.
 */
export const LAYOUT = {
  /** Counts the jobs. Workers sleep on it. */
  epoch: 0,
  /** OPEN while a job may be joined, plus the number of workers inside. The asking thread sleeps on it. */
  gate: 16,
  /** The first row that nobody has claimed. */
  cursor: 32,
  /** Rows below this one lie in memory already. */
  limit: 48,
  /** 1: workers leave for good. */
  stop: 64,
  /** 1: a worker has thrown. */
  failed: 65,
  /** The job: a pass (index in PASSES), its range of rows, and the address of an origin if it needs one. */
  pass: 66,
  from: 67,
  to: 68,
  origin: 69,
  /** Per thread two addresses: of its State and of its scratch. */
  addresses: 80,
  words: 80 + 2 * MOST_THREADS,
  /** Float64 numbers: step and radius of `encode`, then what the pass returned for every chunk. */
  step: 128,
  radius: 129,
  results: 130,
  open: 1 << 16,
  chunk: CHUNK,
  /** Times to look before going to sleep, about 20 microseconds: the next job, or the end of one, is often that near. */
  looks: 10_000,
  passes: PASSES,
} as const;

/** A row takes at least 10 bytes of the 4 GiB of a WebAssembly memory. Pages that are never written cost nothing. */
const MOST_CHUNKS = Math.ceil(2 ** 32 / 10 / LAYOUT.chunk);

export function createThreadControl(): SharedArrayBuffer {
  return new SharedArrayBuffer(8 * (LAYOUT.results + MOST_CHUNKS));
}

export interface WorkerStart {
  readonly module: object;
  readonly memory: WasmMemory;
  readonly control: SharedArrayBuffer;
  readonly layout: typeof LAYOUT;
  /** 1 and up; thread 0 is the one that asks. */
  readonly thread: number;
}

/**
 * The program of a worker: evaluates to a function of what it is started with and of what to do when it is ready. It is
 * sent as text, so that no bundler, loader or server has to find a second file. So `serve` and `work` may use nothing but
 * their parameters and globals, and contain no functions (some compilers wrap those in helpers).
 */
export function threadProgram(): string {
  return `(post, ready) => (${serve})(post, new WebAssembly.Instance(post.module, { env: { memory: post.memory } }).exports, ${work}, ready)`;
}

/** Joins one job after the other until `stop` is set. */
function serve(
  { control, layout, thread }: WorkerStart,
  exports: KernelExports,
  toWork: typeof work,
  ready: () => void,
): void {
  const words = new Int32Array(control, 0, layout.words);
  ready();
  for (;;) {
    const seen = Atomics.load(words, layout.epoch);
    for (let gate = Atomics.load(words, layout.gate); gate & layout.open; gate = Atomics.load(words, layout.gate)) {
      // Whoever is inside before the gate closes is waited for; whoever comes later has no part in the job.
      if (Atomics.compareExchange(words, layout.gate, gate, gate + 1) !== gate) continue;
      try {
        toWork(exports, control, layout, thread);
      } catch {
        Atomics.store(words, layout.failed, 1);
      }
      if (Atomics.sub(words, layout.gate, 1) === 1) Atomics.notify(words, layout.gate);
      break;
    }
    if (Atomics.load(words, layout.stop) === 1) return;
    for (let looks = 0; looks < layout.looks && Atomics.load(words, layout.epoch) === seen; looks++);
    Atomics.wait(words, layout.epoch, seen);
  }
}

/** Claims chunks of the job's rows and runs its pass on them until none is left. All threads of a pool run this. */
function work(exports: KernelExports, control: SharedArrayBuffer, layout: typeof LAYOUT, thread: number): void {
  const words = new Int32Array(control, 0, layout.words);
  const numbers = new Float64Array(control);
  const pass = layout.passes[words[layout.pass]];
  const end = words[layout.to];
  const state = words[layout.addresses + 2 * thread];
  const scratch = words[layout.addresses + 2 * thread + 1];
  for (;;) {
    const from = Atomics.add(words, layout.cursor, layout.chunk);
    if (from >= end) return;
    const to = Math.min(end, from + layout.chunk);
    // Rows that are still being copied come soon: too soon to sleep.
    while (Atomics.load(words, layout.limit) < to);
    if (pass === "distances") {
      exports.distances(state, words[layout.origin], from, to, scratch + 8 * (from - words[layout.from]));
    } else if (pass === "encode") {
      const [step, radius] = [numbers[layout.step], numbers[layout.radius]];
      const worst = exports.encode(state, words[layout.origin], from, to, step, radius, scratch);
      numbers[layout.results + from / layout.chunk] = worst;
    } else {
      const result = exports[pass](state, from, to, scratch);
      if (result !== undefined) numbers[layout.results + from / layout.chunk] = result;
    }
  }
}

export interface ThreadPool {
  readonly control: SharedArrayBuffer;
  /** Workers that were started; their threads have the numbers 1 to `workers`. */
  readonly workers: number;
  /** Those that still live. */
  living: number;
  /** A worker was lost inside a job: it may still write, so the shared memory must not be used any more. */
  isLost: boolean;
  /** From this cost on (see COST in threadedPasses.ts) a pass is worth waking the workers for. */
  worthwhile: number;
  /** Seconds without any worker finishing, after which a job is given up. A chunk takes milliseconds. */
  patience: number;
}

/** Looks per second where sleeping is not allowed, roughly. */
const LOOKS_PER_SECOND = 5e7;

/**
 * Runs a job. Threads claim chunk after chunk, so a worker that wakes late or is disturbed does less, and one that died
 * in its sleep is not missed. `feed` brings the rows into memory meanwhile and says how many are there.
 */
export function runThreadJob(
  pool: ThreadPool,
  exports: KernelExports,
  job: { pass: (typeof PASSES)[number]; from: number; to: number; feed?: (arrived: (rows: number) => void) => void },
): void {
  const { pass, from, to, feed } = job;
  const words = new Int32Array(pool.control, 0, LAYOUT.words);
  words[LAYOUT.pass] = PASSES.indexOf(pass);
  words[LAYOUT.from] = from;
  words[LAYOUT.to] = to;
  Atomics.store(words, LAYOUT.cursor, from);
  Atomics.store(words, LAYOUT.limit, feed === undefined ? to : from);
  Atomics.store(words, LAYOUT.gate, LAYOUT.open);
  Atomics.add(words, LAYOUT.epoch, 1);
  Atomics.notify(words, LAYOUT.epoch);
  try {
    feed?.((arrived) => Atomics.store(words, LAYOUT.limit, arrived));
    Atomics.store(words, LAYOUT.limit, to);
    work(exports, pool.control, LAYOUT, 0);
  } finally {
    Atomics.store(words, LAYOUT.limit, to);
    Atomics.and(words, LAYOUT.gate, ~LAYOUT.open);
    pool.isLost = !haveLeft(words, pool.patience) || Atomics.load(words, LAYOUT.failed) === 1;
  }
  if (pool.isLost) throw new Error("a worker thread was lost");
}

/** Waits until no worker is inside the closed gate; false if patience ends before. */
function haveLeft(words: Int32Array<SharedArrayBuffer>, patience: number): boolean {
  const most = patience * LOOKS_PER_SECOND;
  let asleep = 0;
  for (let looks = 0; ; looks++) {
    const inside = Atomics.load(words, LAYOUT.gate);
    if (inside === 0) return true;
    if (looks < LAYOUT.looks) continue;
    if (!mayWait()) {
      if (looks > most) return false;
    } else if (Atomics.wait(words, LAYOUT.gate, inside, 1000) === "timed-out" && ++asleep >= patience) return false;
  }
}

let canWait: boolean | undefined;

/** The main thread of a browser must not sleep. */
function mayWait(): boolean {
  if (canWait === undefined) {
    try {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1);
      canWait = true;
    } catch {
      canWait = false;
    }
  }
  return canWait;
}
