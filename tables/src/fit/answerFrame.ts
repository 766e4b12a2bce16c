// What fedkm pipe computes: a request for clusters of matrices as a frame, answered as every other door answers it, and labels of
// further rows.

import { consensusVariation, type Matrix, partialFit, predict } from "@fedkm/core";
import type { Frame, FrameArray } from "@fedkm/files/frames";
import { clustersInModelOrder } from "../model/clusterSums.ts";
import { type LinksRequest, linkDevices } from "../prepare/links.ts";
import { RequestError } from "../request.ts";
import { type FitRequest, fitTables } from "./fitTables.ts";
import { checkFitMethod, fitMethodOptions, type NamedMethod } from "./method.ts";

/** Methods by their names, of which core does not know all. */
type MethodByName = (name: string) => Promise<string | NamedMethod>;

/** Throws one line where the request cannot be meant. */
export async function answerFrame({ header, arrays }: Frame, methodOf: MethodByName): Promise<Frame> {
  const matrices = arrays.map(asMatrix);
  if (header.ask === "fit") return fitAnswer(header, matrices, methodOf);
  if (header.ask === "partial") return partialAnswer(header, matrices, methodOf);
  if (header.ask === "predict") return predictAnswer(matrices);
  throw new RequestError(`ask must be fit, partial or predict, got ${JSON.stringify(header.ask)}`);
}

function asMatrix({ data, rows, cols }: FrameArray): Matrix {
  if (!(data instanceof Float64Array))
    throw new RequestError("arrays of a request must hold doubles, got whole numbers");
  return { data, rows, cols };
}

/**
 * Header: `request` as the library takes it but for the tables, `names` of the devices and `columns`. The arrays of all
 * devices, then their weights (`weighted`), then where they start (`started`).
 */
async function fitAnswer(header: Frame["header"], arrays: readonly Matrix[], methodOf: MethodByName): Promise<Frame> {
  const { request, names, columns, weighted = false, started = false } = header;
  const devices = arrays.length / (1 + Number(weighted === true) + Number(started === true));
  const part = (n: number) => arrays.slice(n * devices, (n + 1) * devices);
  const datasets = part(0);
  const called = Array.isArray(names) ? names.map(String) : datasets.map((_, i) => String(i));
  const tables = datasets.map((points, i) => {
    return { name: called[i], points, ...(Array.isArray(columns) && { columns: columns.map(String) }) };
  });
  const asked = {
    ...(await requestOf(request, methodOf)),
    ...(weighted === true && { weights: part(1).map(({ data }) => data) }),
    ...(started === true && { startAt: part(weighted === true ? 2 : 1) }),
  };
  const { model, labels, sums, graph } = await fitTables({ ...asked, tables, examine: false });
  const { objective, rounds, converged, messages, bytes } = model;
  const centroids = model.devices.map((own) => ({
    data: Float64Array.from(own.centroids.flat()),
    rows: sums.k,
    cols: sums.cols,
  }));
  const { k, cols, counts } = sums;
  // A cluster without any row has no mean.
  const means = model.clusters.flatMap(({ mean }) => mean ?? new Array<number>(cols).fill(Number.NaN));
  return {
    header: {
      objective,
      rounds,
      converged,
      messages,
      bytes,
      measures: {
        totalVariation: model.history.at(-1)?.totalVariation ?? 0,
        consensusVariation: consensusVariation(centroids, graph),
      },
      // Their centroids are the first arrays: text would be three times as long.
      model: { ...model, devices: model.devices.map(({ centroids: _, ...own }) => own) },
    },
    arrays: [
      ...centroids,
      ...labels.map((data) => ({ data, rows: data.length, cols: 1 })),
      { data: Float64Array.from(means), rows: k, cols },
      { data: counts, rows: datasets.length, cols: k },
    ],
  };
}

/**
 * Header: `request` as for fit, `lost` of the summaries of the call before, or null. The new rows of all devices, their weights
 * (`weighted`) and, of the call before, centroids, rows and weights of the summaries, which are answered here for the next.
 */
async function partialAnswer(
  header: Frame["header"],
  arrays: readonly Matrix[],
  methodOf: MethodByName,
): Promise<Frame> {
  const { request, weighted = false, lost } = header;
  const asked = await requestOf(request, methodOf);
  const { k } = asked;
  if (k === undefined) throw new RequestError("--k must be a number where rows come in parts, got none");
  const { problem, settings } = checkFitMethod({ ...asked, k });
  const isFirst = !Array.isArray(lost);
  const devices = arrays.length / (1 + Number(weighted === true) + (isFirst ? 0 : 3));
  const part = (n: number) => arrays.slice(n * devices, (n + 1) * devices);
  const batches = part(0);
  const from = weighted === true ? 2 : 1;
  const [centroids, points, masses] = [part(from), part(from + 1), part(from + 2)];
  const summaries = points.map((own, i) => {
    return { points: own, weights: masses[i].data, lost: Number((lost as unknown[])[i]) };
  });
  const names = batches.map((_, i) => String(i));
  const graph = await linkDevices(asked.graph ?? "complete", names, batches, problem);
  const found = partialFit(isFirst ? undefined : { centroids, summaries }, batches, graph, {
    ...fitMethodOptions({ problem, settings }),
    ...problem,
    ...(weighted === true && { weights: part(1).map(({ data }) => data) }),
  });
  // From then on clusters keep these numbers.
  const numbered = isFirst
    ? clustersInModelOrder(
        found.centroids,
        found.summaries.map((own) => own.points),
        found.summaries.map((own) => own.weights),
      )
    : found.centroids;
  const { objective, inertia, rounds, converged, messages, bytes, history } = found;
  return {
    header: {
      ...{ objective, inertia, rounds, converged, messages, bytes },
      history: history.map(({ largestMove: _, ...round }) => round),
      lost: found.summaries.map((own) => own.lost),
    },
    arrays: [
      ...numbered,
      ...batches.map((rows, i) => ({ data: predict(numbered[i], rows), rows: rows.rows, cols: 1 })),
      ...found.summaries.map((own) => own.points),
      ...found.summaries.map(({ weights }) => ({ data: weights, rows: weights.length, cols: 1 })),
    ],
  };
}

async function requestOf(request: unknown, methodOf: MethodByName): Promise<FitRequest> {
  if (typeof request !== "object" || request === null || Array.isArray(request))
    throw new RequestError(`request must be an object, got ${JSON.stringify(request)}`);
  const { graph = "complete", ...rest } = request as { graph?: unknown } & FitRequest;
  if (typeof graph !== "string" && !Array.isArray(graph))
    throw new RequestError(`graph must be a rule or a list of links, got ${JSON.stringify(graph)}`);
  const method = rest.method === undefined ? {} : { method: await methodOf(String(rest.method)) };
  return { ...rest, ...method, graph: graph as LinksRequest };
}

/** Centroids first, then the points whose nearest ones are asked for. */
function predictAnswer([centroids, points]: readonly Matrix[]): Frame {
  const data = predict(centroids, points);
  return { header: {}, arrays: [{ data, rows: data.length, cols: 1 }] };
}
