// fedkm fit: files in, a model, labels and a report out.

import { connectedComponents, discrepancy, edges, type Graph, type Matrix, toRows } from "@fedkm/core";
import { undoScaling } from "@fedkm/files";
import { placesApart } from "../../../../tables/src/fit/deviceFit.ts";
import { runSources, sumsOfSources } from "../../../../tables/src/fit/fitSources.ts";
import { type Asked, askedOf, type Found, runMethod } from "../../../../tables/src/fit/method.ts";
import { resultWarnings } from "../../../../tables/src/fit/resultWarnings.ts";
import { lookedAt } from "../../../../tables/src/fit/stability.ts";
import { inCommonOrder } from "../../../../tables/src/model/clusterOrder.ts";
import { type ClusterSums, clusterModels, clusterSums } from "../../../../tables/src/model/clusterSums.ts";
import {
  DEVICES,
  encodedParts,
  isAlone,
  labelScaled,
  MODEL_FORMAT,
  type Model,
} from "../../../../tables/src/model/model.ts";
import type { Fitted } from "../../../../tables/src/model/outcome.ts";
import { type Prepared, type PrepareOptions, prepare } from "../../../../tables/src/prepare/prepare.ts";
import { certifyModel } from "../../../../tables/src/verify/certificate.ts";
import { type Console, isStyled } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { type PluginOptions, pluginsOf } from "../../plugins.ts";
import { progressOn } from "../../progress.ts";
import { interruptible, stoppableUnchanged } from "../../stop.ts";
import { type ThreadsOptions, withThreads } from "../../threads.ts";
import { checkFolder } from "../../write.ts";
import { coreTime, type Watched } from "./coreTime.ts";
import { type ResultsOptions, summary, writeResults } from "./results.ts";
import type { MethodSettings, SettledSettings } from "./settings.ts";
import { sureLater } from "./stabilityLater.ts";
import { fitText } from "./text.ts";

export interface FitOptions extends PrepareOptions, MethodSettings, PluginOptions, ThreadsOptions, ResultsOptions {
  readonly k: number;
  readonly alpha: number;
  readonly method: string;
  /** Of the clusters, in their order. */
  readonly names?: readonly string[];
  readonly json?: boolean;
}

export async function fitFiles(patterns: readonly string[], options: FitOptions, io: Console): Promise<void> {
  checkFolder(options.out);
  checkNames(options);
  const plugins = await pluginsOf(options);
  const asked = askedOf(options, plugins.methods);
  const progress = progressOn(io.stderr);
  const core = coreTime();
  const began = performance.now();
  const { fitted, written } = await stoppableUnchanged(async (signal) => {
    const watch = { progress, core, signal };
    try {
      const onFile = (file: string) => {
        signal.throwIfAborted();
        progress.show(`fedkm  reading ${file}`);
      };
      const prepared = await prepare(patterns, options, onFile, plugins.graphs);
      return await fitAndWrite(prepared, options, asked, watch, performance.now() - began);
    } finally {
      progress.erase();
    }
  });
  const milliseconds = { ...fitted.milliseconds, core: core.milliseconds(), total: performance.now() - began };
  const warnings = [...fitted.warnings, ...written.leftOut];
  if (options.json)
    io.stdout.write(`${JSON.stringify(summary(fitted, warnings, written.paths, milliseconds), undefined, 2)}\n`);
  else io.stdout.write(`${fitText(fitted, warnings, written.paths, isStyled(io.stdout, io.env)).join("\n")}\n`);
}

function checkNames({ names, k }: FitOptions): void {
  if (names === undefined) return;
  if (names.length !== k) {
    throw new UsageError(`--names must have one name for each of the ${k} clusters, got ${names.length}`);
  }
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new UsageError(`--names must have different names, got "${twice}" twice`);
}

async function fitAndWrite(prepared: Prepared, options: FitOptions, asked: Asked, watch: Watched, read: number) {
  const result = await fitPrepared(prepared, options, asked, watch);
  // Begins before the certificate, so that both are made at the same time.
  const sure = sureLater(lookedAt(result), options, asked, watch);
  try {
    const fitted = { ...(await certified(result, prepared, watch)), milliseconds: { read, fit: result.milliseconds } };
    watch.progress.announce("fedkm  writing the results");
    return { fitted, written: await writeResults(prepared.input, fitted, sure.answer, options, watch) };
  } finally {
    sure.end();
  }
}

async function fitPrepared(prepared: Prepared, options: FitOptions, asked: Asked, watch: Watched) {
  const { progress, core, signal } = watch;
  const { names, datasets, scaling, graph } = prepared;
  progress.announce(`fedkm  ${options.method} on ${names.length} devices`);
  const start = performance.now();
  const { inSources, found } = await core.measure(async () => {
    const passed = prepared.sources && (await runSources(prepared.sources, graph, asked, progress));
    return { inSources: passed, found: passed ?? (await run(prepared, options, asked, watch)) };
  });
  const milliseconds = performance.now() - start;
  // The devices of a study have numbered their clusters.
  const ordered = options.study === undefined ? inCommonOrder(found.centroids, datasets) : found.centroids;
  const centroids = ordered.map((own) => toRows(undoScaling(own, scaling)));
  const labels = await core.measure(() =>
    interruptible(() => datasets.map((points, i) => labelScaled({ centroids: centroids[i] }, scaling, points)), signal),
  );
  const seen = clusterSums(datasets, labels, options.k);
  const sums = inSources === undefined ? seen : sumsOfSources(seen, inSources, ordered);
  const model = modelOf(prepared, options, asked, { found, ordered, centroids, sums });
  return { model, datasets, labels, sums, graph, milliseconds };
}

/** With what is to be said about the result. A certificate is for rows at hand. */
async function certified(
  { model: found, ...result }: Omit<Fitted, "numbersAgree" | "warnings" | "milliseconds">,
  prepared: Prepared,
  { progress, core, signal }: Watched,
) {
  const { datasets, labels, sums, graph } = result;
  progress.announce("fedkm  certifying the result");
  const certificate =
    prepared.sources === undefined
      ? await core.measure(() => interruptible(() => certifyModel(found, datasets, graph), signal))
      : undefined;
  const model = { ...found, ...(certificate && { certificate }) };
  const apart = placesApart(sums);
  const own = resultWarnings({ model, datasets, labels, sums, graph, apart }, prepared.input);
  const numbersAgree = !isAlone(model) && isConnected(graph) && !Object.values(apart).some(({ length }) => length > 0);
  return { ...result, model, numbersAgree, warnings: [...prepared.warnings, ...own] };
}

async function run(
  { input, names, datasets, graph }: Prepared,
  { study, seed, threads }: FitOptions,
  asked: Asked,
  { progress, signal }: Watched,
): Promise<Found> {
  if (study === undefined)
    return withThreads({ threads }, datasets, (kernel) =>
      interruptible(() => runMethod(asked, datasets, graph, { kernel, progress }), signal),
    );
  const { runDevices } = await import("./study.ts");
  const rows = input.devices.map(({ points }) => points);
  return runDevices(study, { names, rows, graph }, seed, progress);
}

interface Result {
  readonly found: Found;
  /** Its centroids in the common order. */
  readonly ordered: readonly Matrix[];
  /** The same in the user's units. */
  readonly centroids: readonly number[][][];
  readonly sums: ClusterSums;
}

function modelOf(
  { input, names, scaling, graph }: Prepared,
  { k, alpha, seed, method, graph: spec, missing, study, names: called }: FitOptions,
  { settings }: Asked,
  { found, ordered, centroids, sums }: Result,
) {
  return {
    format: MODEL_FORMAT,
    ...encodedParts(input.encoding, scaling),
    columns: input.columns,
    ...(input.dates.length > 0 && { dates: input.dates }),
    scaling,
    missing: { policy: missing, ...(input.fill && { fill: input.fill }) },
    options: {
      k,
      alpha,
      method: study === undefined ? method : DEVICES,
      graph: spec,
      seed,
      ...recorded(settings, found),
    },
    ...(study && { study }),
    devices: names.map((name, i) => {
      const sizes = Array.from(sums.counts.subarray(i * k, (i + 1) * k));
      return { name, rows: sizes.reduce((sum, size) => sum + size, 0), sizes, centroids: centroids[i] };
    }),
    clusters: clusterModels(sums, names, scaling).map((own, c) => (called ? { name: called[c], ...own } : own)),
    links: Array.from(edges(graph), ([i, j, weight]) => ({
      devices: [names[i], names[j]] as const,
      weight,
      disagreement: discrepancy(ordered[i], ordered[j], settings.coupling),
    })),
    objective: found.objective,
    rounds: found.rounds,
    ...(found.passes !== undefined && { passes: found.passes }),
    converged: found.converged,
    messages: found.messages,
    bytes: found.bytes,
    history: found.history.map(({ round, objective, totalVariation, messages, bytes }) => {
      return { round, objective, totalVariation, messages, bytes };
    }),
    ...(found.guarded && { guarded: found.guarded }),
  } as const satisfies Model;
}

/** What was said, and the scale of a penalty that was found for it. */
function recorded({ penalty, ...settings }: SettledSettings, found: Found) {
  return penalty === undefined ? settings : { ...settings, penalty: found.penalty ?? ("squared" as const) };
}

function isConnected(graph: Graph): boolean {
  return connectedComponents(graph).every((component) => component === 0);
}
