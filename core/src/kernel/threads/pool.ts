// What a worker does. It is sent as text, so that no bundler, loader or server has to find a second file: these functions
// may use nothing but their parameters and globals, and contain no functions (some compilers wrap those in helpers).

import type { Exports, Memory } from "../exports.ts";
import type { LAYOUT } from "./layout.ts";

/** What a worker is started with. */
export interface Post {
  readonly module: object;
  readonly memory: Memory;
  readonly control: SharedArrayBuffer;
  readonly layout: typeof LAYOUT;
  /** 1 and up; thread 0 is the one that asks. */
  readonly thread: number;
}

/** The program of a worker: evaluates to a function of its post and of what to do when it is ready. */
export function workerProgram(): string {
  return `(post, ready) => (${serve})(post, new WebAssembly.Instance(post.module, { env: { memory: post.memory } }).exports, ${work}, ready)`;
}

/** Joins one job after the other until `stop` is set. */
function serve({ control, layout, thread }: Post, exports: Exports, toWork: typeof work, ready: () => void): void {
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

/** Claims chunks of the job's rows and runs its pass on them until none is left. All threads of a crew run this. */
export function work(exports: Exports, control: SharedArrayBuffer, layout: typeof LAYOUT, thread: number): void {
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
      exports.distances(state, words[layout.centre], from, to, scratch + 8 * (from - words[layout.from]));
    } else if (pass === "encode") {
      const [step, radius] = [numbers[layout.step], numbers[layout.radius]];
      const worst = exports.encode(state, words[layout.centre], from, to, step, radius, scratch);
      numbers[layout.results + from / layout.chunk] = worst;
    } else {
      const result = exports[pass](state, from, to, scratch);
      if (result !== undefined) numbers[layout.results + from / layout.chunk] = result;
    }
  }
}
