// What a worker computes: a function of the library by its name, with the same answer to the bit, and reports on the way.

import { choose } from "../choose/choose.ts";
import { isRecord } from "../data/optionNames.ts";
import { drainRounds, fitRounds, type RoundSummary } from "../fit/fit.ts";
import type { Kernel, PreparedPoints } from "../kernel/kernel.ts";
import { fastKernel } from "../kernel/wasm.ts";
import { kmeans } from "../start/kmeans.ts";

/** How far a worker is. */
export interface WorkerProgress {
  /** How often the points of a device were compared with centroids so far. */
  readonly passes: number;
  /** The last round that has ended; only `fitAsync` has rounds. */
  readonly round?: RoundSummary | undefined;
}

/** One of the computations that a worker knows, and what it is called with, options last. */
export interface WorkerRequest {
  readonly name: "fit" | "kmeans" | "choose";
  readonly args: readonly unknown[];
}

/** What a worker says: how far it is, then its answer or why there is none. */
export type WorkerReply =
  | { readonly progress: WorkerProgress }
  | { readonly answer: object }
  | { readonly refusal: unknown };

/** Milliseconds between two reports: often enough to watch, and too rare to keep anybody busy. */
const PERIOD = 50;

/** The whole life of a worker. `now` is its clock. */
export function answerWorker(request: WorkerRequest, send: (reply: WorkerReply) => void, now: () => number): void {
  let passes = 0;
  let round: RoundSummary | undefined;
  let reported = now();
  const kernel = reportingKernel(fastKernel, () => {
    passes++;
    const time = now();
    if (time - reported < PERIOD) return;
    reported = time;
    send({ progress: { passes, round } });
  });
  const noteRound = (ended: RoundSummary) => {
    round = ended;
  };
  try {
    send({ answer: answerTo(request, kernel, noteRound) });
  } catch (refusal) {
    send({ refusal });
  }
}

function answerTo({ name, args }: WorkerRequest, kernel: Kernel, noteRound: (ended: RoundSummary) => void): object {
  const options = args.at(-1);
  // Whatever is no options object is for the function itself to refuse.
  const call = isRecord(options) ? args.with(-1, { ...options, kernel }) : args;
  if (name === "kmeans") return kmeans(...(call as Parameters<typeof kmeans>));
  if (name === "choose") return choose(...(call as Parameters<typeof choose>));
  const loop = fitRounds(...(call as Parameters<typeof fitRounds>));
  return drainRounds(loop, ({ round, objective, totalVariation, largestMove, messages, bytes }) =>
    noteRound({ round, objective, totalVariation, largestMove, messages, bytes }),
  );
}

/** The same kernel, which says when it has been asked about all points of a device. */
function reportingKernel(kernel: Kernel, onPass: () => void): Kernel {
  return {
    name: kernel.name,
    prepare(points, weights) {
      const prepared = kernel.prepare(points, weights);
      const reporting: PreparedPoints = {
        statistics(centroids, into, withLoss) {
          prepared.statistics(centroids, into, withLoss);
          onPass();
        },
        lloyd(centroids, most, tol) {
          const result = prepared.lloyd?.(centroids, most, tol);
          if (result !== undefined) onPass();
          return result;
        },
        labels: (centroids, into) => prepared.labels(centroids, into),
        squaredDistances(centroid, into) {
          prepared.squaredDistances(centroid, into);
          onPass();
        },
        release: () => prepared.release(),
      };
      return reporting;
    },
  };
}
