// Computations in a worker, from the side that asks: the event loop stays free, and an abort ends the worker at once.

import type { Choice, ChooseOptions } from "../choose/choose.ts";
import { checkFunction, checkSignal } from "../data/check.ts";
import type { Points } from "../data/matrix.ts";
import { describeArgument, isRecord } from "../data/optionNames.ts";
import type { FitModel } from "../fit/fit.ts";
import type { FitOptions } from "../fit/fitOptions.ts";
import type { Graph } from "../graph/graph.ts";
import { labelledModel, labellingModel } from "../kernel/model.ts";
import type { KMeansModel, KMeansOptions } from "../start/kmeans.ts";
import type { WorkerProgress, WorkerReply, WorkerRequest } from "./jobs.ts";

/** A worker as its platform makes it: a Worker of the browser, or of Node's `worker_threads`. */
export interface WorkerHandle {
  /** Sends a request to it. */
  postMessage(message: unknown): void;
  /** Ends it at once. */
  terminate(): unknown;
}

/** What all computations in a worker take besides their own options. A kernel cannot go there. */
export interface WorkerOptions {
  /**
   * Starts a worker that runs the module `@fedkm/core/worker`, for bundlers that do not find its file themselves. A worker
   * that has answered may be used again when the same function is given.
   */
  worker?: (() => WorkerHandle) | undefined;
  /** Ends the computation; the promise is rejected with its reason. */
  signal?: AbortSignal | undefined;
  /** Called a few times a second. */
  onProgress?: ((progress: WorkerProgress) => void) | undefined;
}

type InWorker<Options> = Omit<Options, "kernel" | "signal"> & WorkerOptions;

/** How workers are started where we run. */
export interface JobHost {
  /**
   * Starts a worker on one request. `onEnd` is called where it ends without an answer. Returns what ends the work: once
   * it is done the worker may live on, otherwise it ends at once.
   */
  start(
    request: WorkerRequest,
    worker: WorkerOptions["worker"],
    onReply: (reply: WorkerReply) => void,
    onEnd: (error: Error) => void,
  ): (isDone: boolean) => void;
  /** Resolves when the event loop has had its turn. */
  turn(): Promise<void>;
}

/** The public functions, for one host. */
export function workerComputations(host: JobHost) {
  return {
    /** `fit` in a worker, with the same answer. */
    async fitAsync(datasets: readonly Points[], graph: Graph, options: InWorker<FitOptions>): Promise<FitModel> {
      const numbers = await compute(host, "fit", [datasets, graph, options]);
      return labellingModel(numbers as FitModel, datasets);
    },
    /** `kmeans` in a worker, with the same answer. */
    async kmeansAsync(points: Points, options: InWorker<KMeansOptions>): Promise<KMeansModel> {
      return labelledModel((await compute(host, "kmeans", [points, options])) as KMeansModel);
    },
    /** `choose` in a worker, with the same answer. */
    async chooseAsync(
      datasets: readonly Points[],
      graph: Graph,
      options: InWorker<ChooseOptions> = {},
    ): Promise<Choice> {
      return (await compute(host, "choose", [datasets, graph, options])) as Choice;
    },
  };
}

async function compute(host: JobHost, name: WorkerRequest["name"], args: readonly unknown[]): Promise<object> {
  const { kernel, signal, onProgress, worker, ...options } = Object(args.at(-1)) as WorkerOptions & {
    kernel?: unknown;
  };
  if (kernel !== undefined) throw new TypeError(`kernel cannot be sent to a worker, got ${describeArgument(kernel)}`);
  checkSignal(signal);
  if (onProgress !== undefined) checkFunction("onProgress", onProgress, "a function");
  if (worker !== undefined) checkFunction("worker", worker, "a function that starts a worker");
  // Whatever is no options object is for the function itself to refuse.
  const call = isRecord(args.at(-1)) ? args.with(-1, options) : args;
  signal?.throwIfAborted();
  const shared = await share(call, host, signal);
  return new Promise((resolve, reject) => {
    let end = (_isDone: boolean) => {};
    let isSettled = false;
    const settle = (act: () => void, isDone = false) => {
      if (isSettled) return;
      isSettled = true;
      signal?.removeEventListener("abort", abort);
      end(isDone);
      act();
    };
    const abort = () => settle(() => reject(signal?.reason));
    const hear = (reply: WorkerReply) => {
      if ("answer" in reply) settle(() => resolve(reply.answer), true);
      else if ("refusal" in reply) settle(() => reject(reply.refusal), true);
      else if (!isSettled) {
        try {
          onProgress?.(reply.progress);
        } catch (error) {
          settle(() => reject(error));
        }
      }
    };
    end = host.start({ name, args: shared }, worker, hear, (error) => settle(() => reject(error)));
    signal?.addEventListener("abort", abort);
  });
}

/** Shorter arrays are copied with the message that carries them. */
const WORTH_SHARING = 2 ** 13;
/** Numbers that are copied in one turn of the event loop, about a millisecond. */
const COPIED = 2 ** 18;

/**
 * The same values with large arrays in shared memory, where there is any: one copy, made a part at a time. Numbers that
 * are in shared memory already stay where they are.
 */
async function share(args: readonly unknown[], host: JobHost, signal: AbortSignal | undefined): Promise<unknown[]> {
  const copies: { readonly from: Float64Array; readonly to: Float64Array }[] = [];
  const shareable = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shareable);
    if (value instanceof Float64Array) {
      const isShared = typeof SharedArrayBuffer === "undefined" || value.buffer instanceof SharedArrayBuffer;
      if (isShared || value.length < WORTH_SHARING) return value;
      const to = new Float64Array(new SharedArrayBuffer(value.byteLength));
      copies.push({ from: value, to });
      return to;
    }
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shareable(part)]));
  };
  const shared = args.map(shareable);
  for (const { from, to } of copies) {
    for (let at = 0; at < from.length; at += COPIED) {
      to.set(from.subarray(at, at + COPIED), at);
      if (from.length > COPIED) await host.turn();
      signal?.throwIfAborted();
    }
  }
  return shared;
}
