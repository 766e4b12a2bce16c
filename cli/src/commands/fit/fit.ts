// fedkm fit: files in, a model, labels and a report out.

import { connectedComponents, discrepancy, edges, type FitModel, type Graph, toRows } from "@fedkm/core";
import { undoScaling } from "@fedkm/files";
import { type Console, isStyled } from "../../console.ts";
import type { Input } from "../../input/devices.ts";
import { type Prepared, type PrepareOptions, prepare } from "../../input/prepare.ts";
import { certifyModel } from "../../model/certify.ts";
import type { Fitted } from "../../model/fitted.ts";
import { labelScaled, MODEL_FORMAT, MODEL_VERSION, type Model } from "../../model/model.ts";
import { type PluginOptions, pluginsOf } from "../../plugins.ts";
import { type Progress, progressOn } from "../../progress.ts";
import { checkFolder } from "../../write.ts";
import { inCommonOrder } from "./order.ts";
import { summary, writeResults } from "./results.ts";
import { type Asked, askedOf, runMethod } from "./run.ts";
import type { MethodSettings } from "./settings.ts";
import { fitText } from "./text.ts";

export interface FitOptions extends PrepareOptions, MethodSettings, PluginOptions {
  readonly k: number;
  readonly alpha: number;
  readonly method: string;
  /** The folder of the results. */
  readonly out: string;
  readonly json?: boolean;
}

export async function fitFiles(patterns: readonly string[], options: FitOptions, io: Console): Promise<void> {
  checkFolder(options.out);
  const plugins = await pluginsOf(options);
  const asked = askedOf(options, plugins.methods);
  const progress = progressOn(io.stderr);
  const began = performance.now();
  let fitted: Fitted;
  let written: { paths: string[]; leftOut: string[] };
  try {
    const onFile = (file: string) => progress.announce(`fedkm  reading ${file}`);
    const prepared = await prepare(patterns, options, onFile, plugins.graphs);
    fitted = fitPrepared(prepared, options, asked, progress, performance.now() - began);
    progress.announce("fedkm  writing the results");
    written = await writeResults(prepared.input, fitted, options);
  } finally {
    progress.erase();
  }
  const milliseconds = { ...fitted.milliseconds, total: performance.now() - began };
  const warnings = [...fitted.warnings, ...written.leftOut];
  if (options.json)
    io.stdout.write(`${JSON.stringify(summary(fitted, warnings, written.paths, milliseconds), undefined, 2)}\n`);
  else io.stdout.write(`${fitText(fitted, warnings, written.paths, isStyled(io.stdout, io.env)).join("\n")}\n`);
}

function fitPrepared(prepared: Prepared, options: FitOptions, asked: Asked, progress: Progress, read: number): Fitted {
  const { input, names, datasets, scaling, graph } = prepared;
  const { k, alpha, seed, method, graph: spec } = options;
  progress.announce(`fedkm  ${method} on ${names.length} devices`);
  const start = performance.now();
  const found = runMethod(asked, datasets, graph, progress);
  const fit = performance.now() - start;
  const ordered = inCommonOrder(found.centroids, datasets);
  const centroids = ordered.map((own) => toRows(undoScaling(own, scaling)));
  const labels = datasets.map((points, i) => labelScaled({ centroids: centroids[i] }, scaling, points));
  const uncertified: Model = {
    format: MODEL_FORMAT,
    version: MODEL_VERSION,
    columns: input.columns,
    scaling,
    missing: { policy: options.missing, ...(input.fill && { fill: input.fill }) },
    options: { k, alpha, method, graph: spec, seed, ...recorded(asked.settings, found) },
    devices: names.map((name, i) => ({
      name,
      rows: datasets[i].rows,
      sizes: sizesOf(labels[i], k),
      centroids: centroids[i],
    })),
    links: Array.from(edges(graph), ([i, j, weight]) => ({
      devices: [names[i], names[j]] as const,
      weight,
      disagreement: discrepancy(ordered[i], ordered[j], asked.settings.coupling),
    })),
    objective: found.objective,
    rounds: found.rounds,
    converged: found.converged,
    messages: found.messages,
    bytes: found.bytes,
    history: found.history.map(({ round, objective, totalVariation, messages, bytes }) => {
      return { round, objective, totalVariation, messages, bytes };
    }),
  };
  progress.announce("fedkm  certifying the result");
  const model = { ...uncertified, certificate: certifyModel(uncertified, datasets, graph) };
  const warnings = [...prepared.warnings, ...runWarnings(model, graph, input)];
  return { model, datasets, labels, graph, warnings, milliseconds: { read, fit } };
}

/** What was said, and the scale of a penalty that was found for it. */
function recorded({ penalty, ...settings }: Asked["settings"], found: FitModel) {
  return penalty === undefined ? settings : { ...settings, penalty: found.penalty ?? ("squared" as const) };
}

function sizesOf(labels: Uint32Array, k: number): number[] {
  const sizes = new Array<number>(k).fill(0);
  for (const label of labels) sizes[label]++;
  return sizes;
}

/** Fewer rows a cluster than this say little about it. */
const FEW_ROWS = 10;

function runWarnings(model: Model, graph: Graph, { dropped }: Input): string[] {
  const { k, method } = model.options;
  const small = model.devices.filter(({ rows }) => rows < FEW_ROWS * k).map(({ name, rows }) => `${name} (${rows})`);
  const parts = new Set(connectedComponents(graph)).size;
  const total = model.devices.reduce((sum, { rows }) => sum + rows, 0);
  const shown = small.length > 5 ? `${small.slice(0, 5).join(", ")} and ${small.length - 5} more` : small.join(", ");
  return [
    ...(small.length > 0 ? [`fewer than ${FEW_ROWS} rows a cluster: ${shown}`] : []),
    ...(parts > 1 ? [`the network falls into ${parts} parts that never hear of each other`] : []),
    ...(model.converged ? [] : [`${method} did not settle in ${model.rounds} rounds; allow more with --rounds`]),
    ...(dropped > 0.05 * (total + dropped)
      ? ["more than 5 % of the rows were dropped; see which with fedkm inspect"]
      : []),
  ];
}
