// A kernel that spreads large devices over worker threads. It answers synchronously, with the same bits as any other.

import { checkSignal } from "../../data/check.ts";
import type { Points } from "../../data/matrix.ts";
import { checkOptions, type OptionNames } from "../../data/optionNames.ts";
import { WASM_BYTES } from "../bytes.ts";
import type { Kernel, PreparedPoints } from "../kernel.ts";
import {
  CHUNK,
  compileModule,
  host,
  type KernelExports,
  MOST_PAGES,
  type WasmMemory,
  wasmBytes,
  wasmMachineOn,
} from "../module.ts";
import type { KernelEngine } from "../pick.ts";
import { fastKernel, wasmKernel } from "../wasm.ts";
import { createThreadControl, LAYOUT, MOST_THREADS, type ThreadPool, type WorkerStart } from "./pool.ts";
import { threadedPasses } from "./threadedPasses.ts";

/** Undefined where WebAssembly, its SIMD instructions or shared memory are missing. */
function createSharedKernel(pages: number) {
  const { WebAssembly } = host;
  // Pages that are not cross-origin isolated have no SharedArrayBuffer.
  if (WebAssembly === undefined || typeof SharedArrayBuffer === "undefined") return undefined;
  const bytes = importingSharedMemory(wasmBytes(WASM_BYTES));
  if (!WebAssembly.validate(bytes)) return undefined;
  const module = compileModule(bytes);
  const made = createMemory(WebAssembly.Memory, pages);
  if (module === undefined || made === undefined) return undefined;
  const { memory, maximum } = made;
  const exports = new WebAssembly.Instance(module, { env: { memory } }).exports as KernelExports;
  return { module, memory, exports, machine: wasmMachineOn(memory, exports, maximum) };
}

/** Some hosts set the whole of a shared memory aside at once and cannot have 4 GiB. */
function createMemory(
  Memory: NonNullable<typeof host.WebAssembly>["Memory"],
  pages: number,
): { memory: WasmMemory; maximum: number } | undefined {
  for (let maximum = pages; maximum >= Math.min(pages, 4096); maximum /= 2) {
    try {
      return { memory: new Memory({ initial: 1, maximum, shared: true }), maximum };
    } catch {}
  }
  return undefined;
}

/** The only import as it is built: 1 import, "env" "memory", a memory, limits without a maximum; see the binary format. */
const IMPORT = [1, 3, 101, 110, 118, 6, 109, 101, 109, 111, 114, 121, 2, 0];
const SHARED_LIMITS = 3;
/** MOST_PAGES in LEB128. */
const MAXIMUM = [0x80, 0x80, 4];

/**
 * The module with the flag "shared" and a maximum on the memory that it imports. The code is the same for both kinds of
 * memory, so a second binary would double the size of the package for 4 bytes.
 */
function importingSharedMemory(bytes: Uint8Array): Uint8Array {
  const at = bytes.findIndex((_, start) => IMPORT.every((byte, i) => bytes[start + i] === byte));
  if (at < 0) throw new Error("the kernel does not import its memory as expected");
  // The byte before is the length of the section, which ends with the minimum.
  const length = bytes[at - 1];
  const shared = new Uint8Array(bytes.length + MAXIMUM.length);
  shared.set(bytes.subarray(0, at + length));
  shared[at - 1] = length + MAXIMUM.length;
  shared[at + IMPORT.length - 1] = SHARED_LIMITS;
  shared.set(MAXIMUM, at + length);
  shared.set(bytes.subarray(at + length), at + length + MAXIMUM.length);
  return shared;
}

/** Options of a kernel with threads. */
export interface ThreadsOptions {
  /** Threads that work together, the calling one included. Default: as many as the machine has. */
  threads?: number | undefined;
  /** Ends the workers. */
  signal?: AbortSignal | undefined;
}

const threadsOptionNames: OptionNames<ThreadsOptions> = { threads: true, signal: true };

/** A kernel that shares its work among threads. */
export interface ThreadedKernel extends Kernel {
  /** Threads that work together now. 1 where memory cannot be shared, after `close`, and when the workers are gone. */
  readonly threads: number;
  /** Ends the workers: they take no further job, and their threads end soon after. The kernel goes on with one thread. */
  close(): Promise<void>;
}

export interface ThreadHost {
  readonly parallelism: number;
  /** Resolves, when the worker is ready, to what lets it end; calls `gone` when it has ended, for whatever reason. */
  start(post: WorkerStart, gone: () => void): Promise<() => Promise<void>>;
}

/** What only tests say. */
export interface PoolTuning {
  readonly engine?: KernelEngine;
  readonly patience?: number;
  readonly worthwhile?: number;
  /** Of the memory. */
  readonly pages?: number;
}

const PATIENCE = 60;
/** About 0.2 ms, so that waking a worker, up to 0.05 ms, pays. */
const WORTHWHILE = 5e6;

/** Resolves to a kernel of one thread where workers or shared memory cannot be had. */
export async function startThreadPool(
  host: ThreadHost,
  options: ThreadsOptions = {},
  tuning: PoolTuning = {},
): Promise<ThreadedKernel> {
  checkOptions(options, threadsOptionNames);
  const { threads = host.parallelism, signal } = options;
  checkSignal(signal);
  if (!(Number.isInteger(threads) && threads >= 1))
    throw new RangeError(`threads must be an integer of at least 1, got ${threads}`);
  signal?.throwIfAborted();
  const workers = Math.min(threads, MOST_THREADS) - 1;
  const shared = workers > 0 ? createSharedKernel(tuning.pages ?? MOST_PAGES) : undefined;
  if (shared === undefined) return { ...kernelOfOne(tuning.engine), threads: 1, close: async () => {} };
  const pool: ThreadPool = {
    control: createThreadControl(),
    workers,
    living: 0,
    isLost: false,
    patience: tuning.patience ?? PATIENCE,
    worthwhile: tuning.worthwhile ?? WORTHWHILE,
  };
  const hosted = await startWorkers(host, pool, shared);
  const close = async () => {
    stop(pool);
    await Promise.all(hosted.map((end) => end()));
    signal?.removeEventListener("abort", close);
  };
  if (signal?.aborted) await close();
  signal?.throwIfAborted();
  signal?.addEventListener("abort", close);
  const machine = { ...shared.machine, ...threadedPasses(shared.machine, shared.exports, pool) };
  const kernels = { threaded: wasmKernel(tuning.engine, () => machine), alone: kernelOfOne(tuning.engine) };
  return {
    name: "threads",
    prepare: (points, weights) => prepare(pool, kernels, points, weights),
    get threads() {
      return pool.isLost ? 1 : 1 + pool.living;
    },
    close,
  };
}

function kernelOfOne(engine: KernelEngine | undefined): Kernel {
  return engine === undefined ? fastKernel : wasmKernel(engine);
}

async function startWorkers(
  host: ThreadHost,
  pool: ThreadPool,
  { module, memory }: Pick<WorkerStart, "module" | "memory">,
): Promise<(() => Promise<void>)[]> {
  const starts = Array.from({ length: pool.workers }, async (_, i) => {
    const post = { module, memory, control: pool.control, layout: LAYOUT, thread: i + 1 };
    let [isCounted, isGone] = [false, false];
    const end = await host.start(post, () => {
      // One that could not begin was never counted, and may end before or after that is known.
      if (isCounted) pool.living--;
      [isCounted, isGone] = [false, true];
    });
    if (!isGone) {
      pool.living++;
      isCounted = true;
    }
    return end;
  });
  // Whoever cannot be started is done without.
  const settled = await Promise.allSettled(starts);
  return settled.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
}

/** Tells the workers to leave. The next call of this pool finds no one and works alone. */
function stop(pool: ThreadPool): void {
  const words = new Int32Array(pool.control, 0, LAYOUT.words);
  pool.living = 0;
  Atomics.store(words, LAYOUT.stop, 1);
  Atomics.add(words, LAYOUT.epoch, 1);
  Atomics.notify(words, LAYOUT.epoch);
}

/** Points in shared memory, if there is enough to share; on one thread from the moment a worker is lost inside a job. */
function prepare(
  pool: ThreadPool,
  { threaded, alone }: { readonly threaded: Kernel; readonly alone: Kernel },
  points: Points,
  weights: Float64Array | undefined,
): PreparedPoints {
  const isShared = points.rows > CHUNK && pool.living > 0 && !pool.isLost;
  if (!isShared) return alone.prepare(points, weights);
  let prepared: PreparedPoints | undefined;
  let spare: PreparedPoints | undefined;
  const ask = (question: (answering: PreparedPoints) => void) => {
    if (spare === undefined) {
      try {
        if (!pool.isLost) {
          prepared ??= threaded.prepare(points, weights);
          return question(prepared);
        }
      } catch (error) {
        if (!pool.isLost) throw error;
      }
      spare = alone.prepare(points, weights);
    }
    question(spare);
  };
  ask(() => {});
  return {
    statistics: (centroids, into, withLoss) => ask((own) => own.statistics(centroids, into, withLoss)),
    labels: (centroids, into) => ask((own) => own.labels(centroids, into)),
    squaredDistances: (centroid, into) => ask((own) => own.squaredDistances(centroid, into)),
    release() {
      prepared?.release();
      spare?.release();
    },
  };
}
