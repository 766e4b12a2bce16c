// fedkm fit: files in, a model, labels and a report out.

import { basename, join } from "node:path";
import {
  connectedComponents,
  discrepancy,
  edges,
  type FitModel,
  fitRounds,
  type Graph,
  type Matrix,
  type Method,
  methods,
} from "@fedkm/core";
import { labelFile, undoScaling } from "@fedkm/files";
import { type Console, isStyled } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import type { Input } from "../../input/devices.ts";
import { deviceNames } from "../../input/names.ts";
import { type Prepared, type PrepareOptions, prepare } from "../../input/prepare.ts";
import type { Fitted } from "../../model/fitted.ts";
import { labelScaled, MODEL_FORMAT, MODEL_VERSION, type Model } from "../../model/model.ts";
import { significant } from "../../numbers.ts";
import { type Progress, progressOn } from "../../progress.ts";
import { checkFolder, writeFolder } from "../../write.ts";
import { inCommonOrder } from "./order.ts";
import { fitText } from "./text.ts";

export interface FitOptions extends PrepareOptions {
  readonly k: number;
  readonly alpha: number;
  readonly method: string;
  /** The folder of the results. */
  readonly out: string;
  readonly json?: boolean;
}

export async function fitFiles(patterns: readonly string[], options: FitOptions, io: Console): Promise<void> {
  checkFolder(options.out);
  const progress = progressOn(io.stderr);
  const began = performance.now();
  let fitted: Fitted;
  let written: { paths: string[]; leftOut: string[] };
  try {
    const prepared = await prepare(patterns, options, (file) => progress.announce(`fedkm  reading ${file}`));
    fitted = fitPrepared(prepared, options, progress, performance.now() - began);
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

function fitPrepared(prepared: Prepared, options: FitOptions, progress: Progress, read: number): Fitted {
  const { input, names, datasets, scaling, graph } = prepared;
  const { k, alpha, seed, method, graph: spec } = options;
  progress.announce(`fedkm  ${method} on ${names.length} devices`);
  const start = performance.now();
  const found = run(method, datasets, graph, { k, alpha, seed }, progress);
  const fit = performance.now() - start;
  const ordered = inCommonOrder(found.centroids, datasets);
  const centroids = ordered.map((own) => rowsOf(undoScaling(own, scaling)));
  const labels = datasets.map((points, i) => labelScaled({ centroids: centroids[i] }, scaling, points));
  const model: Model = {
    format: MODEL_FORMAT,
    version: MODEL_VERSION,
    columns: input.columns,
    scaling,
    missing: { policy: options.missing, ...(input.fill && { fill: input.fill }) },
    options: { k, alpha, method, graph: spec, seed },
    devices: names.map((name, i) => ({
      name,
      rows: datasets[i].rows,
      sizes: sizesOf(labels[i], k),
      centroids: centroids[i],
    })),
    links: Array.from(edges(graph), ([i, j, weight]) => ({
      devices: [names[i], names[j]] as const,
      weight,
      disagreement: discrepancy(ordered[i], ordered[j]),
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
  const warnings = [...prepared.warnings, ...runWarnings(model, graph, input)];
  return { model, datasets, labels, graph, warnings, milliseconds: { read, fit } };
}

function run(
  name: string,
  datasets: readonly Matrix[],
  graph: Graph,
  options: { k: number; alpha: number; seed: number },
  progress: Progress,
): FitModel {
  const table: Readonly<Record<string, Method>> = methods;
  if (!Object.hasOwn(table, name))
    throw new UsageError(`--method must be one of ${Object.keys(table).join(", ")}, got "${name}"`);
  checkEnough(datasets, options.k);
  if (name !== "fedkm") return table[name](datasets, graph, options);
  const loop = fitRounds(datasets, graph, options);
  for (;;) {
    const step = loop.next();
    if (step.done) return step.value;
    progress.show(`fedkm  round ${step.value.round}  objective ${significant(step.value.objective, 4)}`);
  }
}

function checkEnough(datasets: readonly Matrix[], k: number): void {
  // Not spread into Math.max: there may be more devices than a call takes arguments.
  const most = datasets.reduce((largest, { rows }) => Math.max(largest, rows), 0);
  if (k > most) throw new UsageError(`--k must be at most ${most} (the rows of the largest device), got ${k}`);
}

function rowsOf({ data, rows, cols }: Matrix): number[][] {
  return Array.from({ length: rows }, (_, r) => Array.from(data.subarray(r * cols, (r + 1) * cols)));
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
    ...(model.converged ? [] : [`${method} did not settle in ${model.rounds} rounds; the last state is reported`]),
    ...(dropped > 0.05 * (total + dropped)
      ? ["more than 5 % of the rows were dropped; see which with fedkm inspect"]
      : []),
  ];
}

/** All results at once, or none. Returns where they are, and what could not be carried over. */
async function writeResults(input: Input, fitted: Fitted, options: FitOptions) {
  const { reportPage } = await import("./report/page.ts");
  const names = labelNames(input.files.map(({ file }) => file));
  const leftOut: string[] = [];
  await writeFolder(options.out, async (put) => {
    await put("model.json", `${JSON.stringify(fitted.model, undefined, 1)}\n`);
    await put("report.html", reportPage(fitted));
    const cursors = new Uint32Array(fitted.labels.length);
    for (const [i, { file, deviceOf }] of input.files.entries()) {
      const labelOf = (row: number) => {
        const device = deviceOf(row);
        return device < 0 ? undefined : fitted.labels[device][cursors[device]++];
      };
      await put(join("labels", names[i]), async (write) => {
        const missed = await labelFile(file, labelOf, write, options);
        if (missed.length > 0)
          leftOut.push(`the labelled ${names[i]} lacks ${missed.join(", ")}, which cannot be written back`);
      });
    }
  });
  const paths = ["model.json", "report.html", ...names.map((name) => join("labels", name))];
  return { paths: paths.map((path) => join(options.out, path)), leftOut };
}

/** The inputs' own names, with their folders in front where two are the same, and numbered where that is not enough. */
function labelNames(files: readonly string[]): string[] {
  const own = files.map((file) => basename(file));
  if (new Set(own).size === own.length) return own;
  const devices = deviceNames(files);
  const taken = new Set<string>();
  return own.map((name, i) => {
    const stem = devices[i].replaceAll(/[^\p{L}\p{M}\p{N}_.-]+/gu, "-");
    const ending = /(\.\w+)(\.gz)?$/.exec(name)?.[0] ?? "";
    let free = `${stem}${ending}`;
    for (let n = 2; taken.has(free); n++) free = `${stem}-${n}${ending}`;
    taken.add(free);
    return free;
  });
}

function summary(fitted: Fitted, warnings: readonly string[], paths: readonly string[], milliseconds: object) {
  const { devices, objective, rounds, converged, messages, bytes, options } = fitted.model;
  const sizes = devices.map(({ name, rows, sizes: own }) => ({ name, rows, sizes: own }));
  return {
    options,
    devices: sizes,
    objective,
    rounds,
    converged,
    messages,
    bytes,
    warnings,
    files: paths,
    milliseconds,
  };
}
