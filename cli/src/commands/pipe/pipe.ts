// fedkm pipe: requests as frames on standard input, each answered on standard output before the next is read.

import { once } from "node:events";
import { type Matrix, predict } from "@fedkm/core";
import { decodePipeFrames, encodePipeFrame, type Frame, type FrameArray } from "@fedkm/files/frames";
import { type FitRequest, fitTables, type LinksRequest, requestOptionNames } from "@fedkm/tables";
import type { Console } from "../../console.ts";
import { messageLine, UsageError } from "../../failure.ts";
import { methodOfFlag } from "../../input/reading.ts";
import { version } from "../../version.ts";

// What fedkm pipe computes: a request for clusters of matrices, answered as fedkm fit answers it, and labels of further rows.

async function answer({ header, arrays }: Frame): Promise<Frame> {
  const matrices = arrays.map(asMatrix);
  if (header.ask === "fit") return fitAnswer(header, matrices);
  if (header.ask === "predict") return predictAnswer(matrices);
  throw new UsageError(`ask must be fit or predict, got ${JSON.stringify(header.ask)}`);
}

function asMatrix({ data, rows, cols }: FrameArray): Matrix {
  if (!(data instanceof Float64Array)) throw new UsageError("arrays of a request must hold doubles, got whole numbers");
  return { data, rows, cols };
}

/** Header: `request` as the library takes it but for the tables, and `names` of the devices. */
async function fitAnswer({ request, names }: Frame["header"], datasets: readonly Matrix[]): Promise<Frame> {
  const called = Array.isArray(names) ? names.map(String) : datasets.map((_, i) => String(i));
  const tables = datasets.map((points, i) => ({ name: called[i], points }));
  const { model, labels, sums } = await fitTables({ ...(await requestOf(request)), tables, examine: false });
  const { objective, rounds, converged, messages, bytes } = model;
  const { k, cols, counts } = sums;
  // A cluster without any row has no mean.
  const means = model.clusters.flatMap(({ mean }) => mean ?? new Array<number>(cols).fill(Number.NaN));
  return {
    header: { objective, rounds, converged, messages, bytes },
    arrays: [
      ...model.devices.map(({ centroids }) => ({ data: Float64Array.from(centroids.flat()), rows: k, cols })),
      ...labels.map((data) => ({ data, rows: data.length, cols: 1 })),
      { data: Float64Array.from(means), rows: k, cols },
      { data: counts, rows: datasets.length, cols: k },
    ],
  };
}

async function requestOf(request: unknown): Promise<FitRequest> {
  if (typeof request !== "object" || request === null || Array.isArray(request))
    throw new UsageError(`request must be an object, got ${JSON.stringify(request)}`);
  const { graph = "complete", ...rest } = request as { graph?: unknown } & FitRequest;
  if (typeof graph !== "string" && !Array.isArray(graph))
    throw new UsageError(`graph must be a rule or a list of links, got ${JSON.stringify(graph)}`);
  const method = typeof rest.method === "string" ? { method: await methodOfFlag(rest.method) } : {};
  return { ...rest, ...method, graph: graph as LinksRequest };
}

/** Centroids first, then the points whose nearest ones are asked for. */
function predictAnswer([centroids, points]: readonly Matrix[]): Frame {
  const data = predict(centroids, points);
  return { header: {}, arrays: [{ data, rows: data.length, cols: 1 }] };
}

/** A change after which older programs would misread an answer gets another number. */
const PIPE_VERSION = 1;

export async function runPipeCommand({ stdin }: Console): Promise<void> {
  if (stdin === undefined || stdin.isTTY)
    throw new UsageError("pipe must be started by a program that writes frames, got a terminal");
  await send({ header: { fedkm: version(), pipe: PIPE_VERSION }, arrays: [] });
  for await (const request of decodePipeFrames(stdin)) await send(await answered(request));
}

/** A request that cannot be meant is answered by a sentence, and the next one is read. */
async function answered(request: Frame): Promise<Frame> {
  try {
    return await answer(request);
  } catch (error) {
    // Programs have parameters where the command line has flags.
    const refusal = requestOptionNames(messageLine(error).replace(/^fedkm: /, ""), (words) => words.join("_"));
    return { header: { refusal }, arrays: [] };
  }
}

async function send({ header, arrays }: Frame): Promise<void> {
  for (const piece of encodePipeFrame(header, arrays)) {
    if (!process.stdout.write(piece)) await once(process.stdout, "drain");
  }
}
