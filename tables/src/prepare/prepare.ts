// Devices ready to be clustered: their rows on one scale, and the links between them.

import type { Graph, Matrix } from "@fedkm/core";
import type { Source } from "@fedkm/core/sources";
import type { Study } from "@fedkm/device";
import type { Plugins } from "@fedkm/experiments";
import { applyScaling } from "@fedkm/files";
import { spreadWarnings } from "../input/columnWarnings.ts";
import { type Input, type InputOptions, readInput } from "../input/readTables.ts";
import { scaledSources } from "../input/sources.ts";
import { linkDevices } from "./links.ts";
import { type ChosenScaling, chooseScaling, isUnscaled } from "./scaling.ts";

export interface PrepareOptions extends InputOptions {
  readonly graph: string;
  readonly scale: string;
  readonly seed: number;
  /** Rows and scale are as its devices have them. */
  readonly study?: Study;
}

export interface Prepared {
  readonly input: Input;
  readonly names: readonly string[];
  /** Scaled. */
  readonly datasets: readonly Matrix[];
  readonly scaling: ChosenScaling["scaling"];
  readonly graph: Graph;
  /** Where rows stay in their sources: all devices; then `datasets` have samples of these. */
  readonly sources?: readonly Source[] | undefined;
  readonly warnings: readonly string[];
}

export async function prepare(
  patterns: readonly string[],
  options: PrepareOptions,
  onFile: (file: string) => void,
  graphs?: Plugins["graphs"],
): Promise<Prepared> {
  const input = await readInput(patterns, options, onFile, options.study === undefined);
  if (options.study !== undefined) return prepareStudy(input, options.study, options, graphs);
  const datasets = input.devices.map(({ points }) => points);
  const names = input.devices.map(({ name }) => name);
  const { scaling, warnings } = await chooseScaling(options.scale, input.encoding, datasets);
  const spread = scaling.kind === "none" ? spreadWarnings(input.encoding, datasets) : [];
  // In place: nobody needs the rows as they were, and the files are still there.
  if (!isUnscaled(scaling)) for (const points of datasets) applyScaling(points, scaling);
  const graph = await linkDevices(options.graph, names, datasets, options.seed, graphs);
  const sources = scaledSources(input.sources, datasets, scaling);
  return { input, names, datasets, scaling, graph, sources, warnings: [...input.warnings, ...warnings, ...spread] };
}

async function prepareStudy(
  read: Input,
  study: Study,
  options: PrepareOptions,
  graphs?: Plugins["graphs"],
): Promise<Prepared> {
  // Loaded only where there is a study.
  const { inputOfStudy, scalingOfStudy } = await import("../input/studyRows.ts");
  const { scaleRows } = await import("@fedkm/device");
  const input = inputOfStudy(read, study);
  const datasets = input.devices.map(({ points }) => scaleRows(study, points));
  const names = input.devices.map(({ name }) => name);
  const graph = await linkDevices(options.graph, names, datasets, options.seed, graphs);
  return { input, names, datasets, scaling: scalingOfStudy(study), graph, warnings: input.warnings };
}
