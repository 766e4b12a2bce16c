// Devices ready to be clustered: their rows on one scale, and the links between them.

import { edges, type Graph, type Matrix } from "@fedkm/core";
import { memorySource, type Source } from "@fedkm/core/sources";
import type { Scaling } from "@fedkm/files";
import type { OpenSource } from "@fedkm/sql";
import { spreadWarnings } from "../input/columnWarnings.ts";
import { type Input, type RowsRequest, readInput, readInputClasses } from "../input/readTables.ts";
import type { ModelScaling } from "../model/model.ts";
import { RequestError } from "../request.ts";
import type { WorkContext } from "../work.ts";
import { type LinksRequest, linkDevices } from "./links.ts";
import { applyChosenScaling, chooseScaling } from "./scaling.ts";
import { prepareStudyRows, prepareStudyScaling, type StudyPlan } from "./studyRows.ts";

/** Which rows a method takes, and how they are scaled and linked. */
export interface PrepareRequest extends RowsRequest {
  /** Default "complete". */
  readonly graph?: LinksRequest;
  /** Clusters, for links that depend on them. */
  readonly k?: number | undefined;
  /** none, standard, robust, minmax, rank, log:COLUMNS or bounds:FILE. Default "none". */
  readonly scale?: string;
  /** Rows and scale are as its devices have them. */
  readonly study?: StudyPlan;
  /** False: nothing is said about columns and results, and nothing is certified, which takes its time. Default true. */
  readonly examine?: boolean;
}

export interface Prepared {
  readonly input: Input;
  readonly names: readonly string[];
  /** Scaled. */
  readonly datasets: readonly Matrix[];
  readonly scaling: ModelScaling;
  readonly graph: Graph;
  /** Where rows stay in their sources: all devices; then `datasets` have samples of these. */
  readonly sources?: readonly Source[] | undefined;
  readonly warnings: readonly string[];
}

export async function prepareTables(request: PrepareRequest, context: WorkContext = {}): Promise<Prepared> {
  const { study, examine = true, scale = "none" } = request;
  const read = await readInput(request, context, {
    ...{ mayStay: study === undefined, examine, features: study?.features },
  });
  if (study !== undefined) return prepareStudy(read, study, request);
  const datasets = read.devices.map(({ points }) => points);
  const { scaling, warnings } = await chooseScaling(scale, read.encoding, datasets);
  const spread = examine && scaling.kind === "none" ? spreadWarnings(read.encoding, datasets) : [];
  applyChosenScaling(datasets, scaling);
  const linked = await networkOf(read, datasets, request);
  const sources = scaledSources(read.sources, datasets, scaling);
  return { input: read, ...linked, datasets, scaling, sources, warnings: [...read.warnings, ...warnings, ...spread] };
}

async function prepareStudy(read: Input, plan: StudyPlan, request: PrepareRequest): Promise<Prepared> {
  const { personColumn } = plan.study;
  const persons = personColumn === undefined ? undefined : await readInputClasses(read, personColumn, request);
  const input = prepareStudyRows(read, plan, persons);
  const datasets = input.devices.map(({ points }) => plan.scaleRows(points));
  const linked = await networkOf(input, datasets, request);
  checkPlainLinks(linked);
  return { input, ...linked, datasets, scaling: prepareStudyScaling(plan.study), warnings: input.warnings };
}

/** Links between devices have no weights. */
function checkPlainLinks({ graph, names }: Pick<Prepared, "graph" | "names">): void {
  for (const [i, j, weight] of edges(graph)) {
    if (weight === 1) continue;
    throw new RequestError(`links must have weight 1 with --study, got ${weight} between ${names[i]} and ${names[j]}`);
  }
}

async function networkOf(
  { devices }: Input,
  datasets: readonly Matrix[],
  { graph = "complete", seed = 1, k }: PrepareRequest,
) {
  const names = devices.map(({ name }) => name);
  return { names, graph: await linkDevices(graph, names, datasets, { seed, k }) };
}

/** All devices as sources on one scale, if the rows of any stay. `datasets` are scaled rows, or samples of them. */
function scaledSources(
  opened: readonly (OpenSource | undefined)[],
  datasets: readonly Matrix[],
  scaling: Scaling,
): Source[] | undefined {
  if (!opened.some((source) => source !== undefined && source.read !== "memory")) return undefined;
  if (scaling.transforms !== undefined) {
    throw new RequestError("--scale rank and log are for rows in memory: use another, or --read memory");
  }
  return datasets.map((points, i) => {
    const source = opened[i];
    if (source === undefined || source.read === "memory") return memorySource(points);
    return { ...source.scaled(scaling), sample: async () => points };
  });
}
