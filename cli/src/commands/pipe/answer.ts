// What fedkm pipe computes: a fit of matrices as fedkm fit has it, without scaling, and the labels of further rows.

import { type Graph, graph, type Matrix, type Method, methods, predict } from "@fedkm/core";
import { inCommonOrder } from "../../../../tables/src/model/clusterOrder.ts";
import { clusterSums } from "../../../../tables/src/model/clusterSums.ts";
import { isLinkRule, linkDevices } from "../../../../tables/src/prepare/links.ts";
import { UsageError } from "../../failure.ts";
import { defaultWeighting } from "../../input/options.ts";
import type { Frame, FrameArray } from "./frames.ts";

export async function answer({ header, arrays }: Frame): Promise<Frame> {
  const matrices = arrays.map(asMatrix);
  if (header.ask === "fit") return fitAnswer(header, matrices);
  if (header.ask === "predict") return predictAnswer(matrices);
  throw new UsageError(`ask must be fit or predict, got ${JSON.stringify(header.ask)}`);
}

function asMatrix({ data, rows, cols }: FrameArray): Matrix {
  if (!(data instanceof Float64Array)) throw new UsageError("arrays of a request must hold doubles, got whole numbers");
  return { data, rows, cols };
}

/** Header: `method`, `options` as the library takes them, and `graph`: a rule, or links [i, j, weight]. */
async function fitAnswer(header: Frame["header"], datasets: readonly Matrix[]): Promise<Frame> {
  const table: Readonly<Record<string, Method>> = methods;
  const { method: name } = header;
  if (typeof name !== "string" || !Object.hasOwn(table, name))
    throw new UsageError(`method must be one of ${Object.keys(table).join(", ")}, got ${JSON.stringify(name)}`);
  const options = { seed: 1, weighting: defaultWeighting, ...(header.options as { k: number; alpha: number }) };
  const links = await linksOf(header.graph, datasets, options.seed);
  const found = table[name](datasets, links, options);
  const centroids = inCommonOrder(found.centroids, datasets);
  const labels = datasets.map((points, i) => predict(centroids[i], points));
  const { k, cols, common, counts } = clusterSums(datasets, labels, options.k);
  const { objective, rounds, converged, messages, bytes } = found;
  return {
    header: { objective, rounds, converged, messages, bytes },
    arrays: [
      ...centroids,
      ...labels.map((data) => ({ data, rows: data.length, cols: 1 })),
      { data: common, rows: k, cols },
      { data: counts, rows: datasets.length, cols: k },
    ],
  };
}

async function linksOf(spec: unknown, datasets: readonly Matrix[], seed: number): Promise<Graph> {
  if (Array.isArray(spec)) return graph(datasets.length, spec);
  if (typeof spec !== "string" || !isLinkRule(spec)) {
    const rules = "complete, ring, path, star, er:P, knn:K or a list of links";
    throw new UsageError(`graph must be ${rules}, got ${JSON.stringify(spec)}`);
  }
  const names = datasets.map((_, i) => String(i));
  return linkDevices(spec, names, datasets, seed);
}

/** Centroids first, then the points whose nearest ones are asked for. */
function predictAnswer([centroids, points]: readonly Matrix[]): Frame {
  const data = predict(centroids, points);
  return { header: {}, arrays: [{ data, rows: data.length, cols: 1 }] };
}
