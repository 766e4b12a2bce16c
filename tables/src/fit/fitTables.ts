// A request for clusters and its answer: rows are read and put on one scale, the method runs, and its result becomes a
// model with labels and what a careful colleague would say about it. Nothing is written and nothing is printed.

import { chooseClusters, connectedComponents, discrepancy, edges, type Graph, type Matrix, toRows } from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";
import { undoScaling } from "@fedkm/files";
import type { Input } from "../input/readTables.ts";
import {
  type ClusterSums,
  clusterSums,
  clustersInModelOrder,
  clustersOfModel,
  type FittedRows,
} from "../model/clusterSums.ts";
import {
  DEVICES,
  type FittedModel,
  isModelAlone,
  labelScaled,
  type MethodRun,
  MODEL_FORMAT,
  modelVersionParts,
} from "../model/model.ts";
import { alikeLinks, linksName } from "../prepare/links.ts";
import { type Prepared, type PrepareRequest, prepareTables } from "../prepare/prepare.ts";
import { RequestError, type SettledSettings } from "../request.ts";
import { certifyModel } from "../verify/certificate.ts";
import { computeWork, reportWorkProgress, type WorkContext } from "../work.ts";
import { runSources, sumsOfSources } from "./fitSources.ts";
import { type CheckedMethod, checkFitMethod, type MethodRequest, refitForStability, runMethod } from "./method.ts";
import { devicesApart, resultWarnings } from "./resultWarnings.ts";
import { examineStability, type Stability, type StabilityTask, stabilityTask } from "./stability.ts";

/** What `fedkm fit` is asked: rows, columns, scale, links, method. */
export interface FitRequest extends Omit<PrepareRequest, "k">, Omit<MethodRequest, "k"> {
  /** Default: as many as there are names, or as many as `chooseClusters` finds, and then over the links that it finds. */
  readonly k?: number;
  /** Of the clusters, in their order: cluster 0 has the most rows. */
  readonly names?: readonly string[];
}

/** How the work of a fit is watched and shared out. */
export interface FitContext extends WorkContext {
  /**
   * Called as soon as there are labels, with what says how stable the clusters are: who wants to examine it elsewhere,
   * such as in another process, returns how to get the answer. Default: here, when it is asked for.
   */
  readonly examineLater?: (task: StabilityTask, here: () => Promise<Stability>) => () => Promise<Stability>;
}

/** A fit with its rows, labels and stability. */
export interface FitOutcome extends FittedRows {
  /** Which device each row of a file belongs to. */
  readonly input: Input;
  /** How stable the clusters are, examined when it is asked for. */
  stability(): Promise<Stability>;
  readonly milliseconds: { readonly read: number; readonly fit: number };
}

/** Reads, scales, links and clusters tables, files or sources: `fedkm fit` as a function. */
export async function fitTables(asked: FitRequest, context: FitContext = {}): Promise<FitOutcome> {
  checkFitRequest(asked);
  const began = performance.now();
  const given = await prepareTables({ ...asked, k: givenK(asked) }, context);
  const read = performance.now() - began;
  const { chosen, request, prepared } = await withClusters(asked, given, context);
  const checked = checkFitMethod(request);
  const { names, datasets, scaling, graph, input } = prepared;
  reportWorkProgress(context, { step: "fit", method: checked.name, devices: names.length });
  const inSources =
    prepared.sources && (await computeWork(context, () => runSources(prepared.sources ?? [], graph, checked, context)));
  const run = inSources ?? (await runInMemory(prepared, request, checked, context));
  const milliseconds = { read, fit: performance.now() - began - read };
  // The devices of a study have numbered their clusters.
  const ordered =
    request.study === undefined ? clustersInModelOrder(run.centroids, datasets, request.weights) : run.centroids;
  const centroids = ordered.map((own) => toRows(undoScaling(own, scaling)));
  const labels = await computeWork(context, () =>
    datasets.map((points, i) => labelScaled({ centroids: centroids[i] }, scaling, points)),
  );
  const atHand = clusterSums(datasets, labels, request.k, scaling);
  const sums = inSources === undefined ? atHand : sumsOfSources(atHand, inSources, ordered);
  const model = modelOf(prepared, request, checked, { run, ordered, centroids, sums });
  const result = { model, datasets, labels, sums, graph, ...(chosen && { chosen }) };
  const here = () => computeWork(context, () => examineStability(stabilityTask(result), refitForStability(checked)));
  // Begins before the certificate, so that both can be made at the same time.
  const stability = context.examineLater?.(stabilityTask(result), here) ?? here;
  return { ...(await examined(result, prepared, request, context)), input, stability, milliseconds };
}

/** A request that says how many clusters. */
type SettledRequest = FitRequest & { readonly k: number };

/** With as many clusters as were asked for, or else as `fedkm choose` counts, over the links between devices that share them. */
async function withClusters(request: FitRequest, prepared: Prepared, context: WorkContext) {
  const k = givenK(request);
  if (k !== undefined) return { request: { ...request, k }, prepared };
  reportWorkProgress(context, { step: "choose" });
  const { seed = 1, privacy, minRows = defaults.guardedMinimum, graph = "complete" } = request;
  const minimum = privacy === "guarded" ? minRows : undefined;
  const { datasets } = prepared;
  const chosen = await computeWork(context, () => chooseClusters(datasets, prepared.graph, { seed, minimum }));
  const links = chosen.groups.length > 1 ? alikeLinks(graph) : graph;
  const settled: SettledRequest = { ...request, k: chosen.fitted, graph: links };
  return { chosen, request: settled, prepared: { ...prepared, graph: chosen.graph } };
}

const givenK = ({ k, names, startAt }: FitRequest) => k ?? names?.length ?? startAt?.[0]?.rows;

/** Refuses what cannot be meant, before any row is read. */
export function checkFitRequest(request: FitRequest): void {
  const { names, privacy } = request;
  const k = givenK(request);
  if (k === undefined && privacy === "private") {
    throw new RequestError(
      "--privacy private must be used with --k: to count clusters, rows are looked at without noise",
    );
  }
  if (names !== undefined && names.length !== k) {
    throw new RequestError(`--names must have one name for each of the ${k} clusters, got ${names.length}`);
  }
  const twice = names?.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new RequestError(`--names must have different names, got "${twice}" twice`);
  checkFitMethod({ ...request, k: k ?? 1 });
}

async function runInMemory(
  { input, names, datasets, graph }: Prepared,
  { study, seed = 1 }: FitRequest,
  checked: CheckedMethod,
  context: FitContext,
): Promise<MethodRun> {
  if (study !== undefined) {
    const rows = input.devices.map(({ points, persons }) => ({ ...points, ...(persons && { persons }) }));
    return study.simulate({ names, rows, graph }, seed, context);
  }
  const withKernel = context.withKernel ?? ((_, work) => work(undefined));
  return withKernel(datasets, (kernel) =>
    computeWork(context, () => runMethod(checked, datasets, graph, kernel, context)),
  );
}

/** With what is to be said about the result. A certificate is for rows at hand. */
async function examined(
  result: Omit<FittedRows, "numbersAgree" | "warnings">,
  prepared: Prepared,
  { examine = true, study, privacy }: FitRequest,
  context: FitContext,
): Promise<FittedRows> {
  const { datasets, sums, graph } = result;
  const apart = devicesApart(sums);
  const numbersAgree =
    !isModelAlone(result.model) && isConnected(graph) && !Object.values(apart).some(({ length }) => length > 0);
  if (!examine) return { ...result, numbersAgree, warnings: prepared.warnings };
  reportWorkProgress(context, { step: "certify" });
  const certificate =
    prepared.sources === undefined
      ? await computeWork(context, () => certifyModel(result.model, datasets, graph, study))
      : undefined;
  const model = { ...result.model, ...(certificate && { certificate }) };
  const own = resultWarnings({ ...result, model, apart }, prepared.input);
  const exact = privacy === "private" ? [EXACT_FIGURES] : [];
  return { ...result, model, numbersAgree, warnings: [...prepared.warnings, ...own, ...exact] };
}

/** Whoever holds all files may know all, and must not take what is written for private. */
const EXACT_FIGURES =
  "only the centroids of devices are private; sizes, means, labels and the report are exact, so keep them where the rows are";

interface NumberedRun {
  readonly run: MethodRun;
  /** Its centroids in the common order. */
  readonly ordered: readonly Matrix[];
  /** The same in the user's units. */
  readonly centroids: readonly number[][][];
  readonly sums: ClusterSums;
}

function modelOf(
  { input, names, scaling, graph }: Prepared,
  { graph: links = "complete", missing = "refuse", study, names: called }: SettledRequest,
  { name: method, problem: { k, alpha, seed }, settings }: CheckedMethod,
  { run, ordered, centroids, sums }: NumberedRun,
): FittedModel {
  return {
    format: MODEL_FORMAT,
    ...modelVersionParts(input.encoding, scaling),
    columns: input.columns,
    ...(input.dates.length > 0 && { dates: input.dates }),
    ...(Object.keys(input.reading).length > 0 && { reading: input.reading }),
    scaling,
    missing: { policy: missing, ...(input.fill && { fill: input.fill }) },
    options: {
      k,
      alpha,
      method: study === undefined ? method : DEVICES,
      graph: linksName(links),
      seed,
      ...recorded(settings, run),
    },
    ...(study && { study: study.study }),
    devices: names.map((name, i) => {
      const sizes = Array.from(sums.counts.subarray(i * k, (i + 1) * k));
      return { name, rows: sizes.reduce((sum, size) => sum + size, 0), sizes, centroids: centroids[i] };
    }),
    clusters: clustersOfModel(sums, names, scaling).map((own, c) => (called ? { name: called[c], ...own } : own)),
    links: Array.from(edges(graph), ([i, j, weight]) => ({
      devices: [names[i], names[j]] as const,
      weight,
      disagreement: discrepancy(ordered[i], ordered[j], settings.coupling),
    })),
    objective: run.objective,
    rounds: run.rounds,
    ...(run.passes !== undefined && { passes: run.passes }),
    converged: run.converged,
    messages: run.messages,
    bytes: run.bytes,
    history: run.history.map(({ round, objective, totalVariation, messages, bytes }) => {
      return { round, objective, totalVariation, messages, bytes };
    }),
    ...(run.guarded && { guarded: run.guarded }),
  };
}

/** What was said, and the scale of a penalty that was found for it. */
function recorded({ penalty, ...settings }: SettledSettings, run: MethodRun) {
  return penalty === undefined ? settings : { ...settings, penalty: run.penalty ?? ("squared" as const) };
}

function isConnected(graph: Graph): boolean {
  return connectedComponents(graph).every((component) => component === 0);
}
