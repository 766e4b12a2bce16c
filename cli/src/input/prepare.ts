// Devices ready to be clustered: their rows on one scale, and the links between them.

import type { Graph, Matrix } from "@fedkm/core";
import type { Plugins } from "@fedkm/experiments";
import { applyScaling } from "@fedkm/files";
import { type Input, type InputOptions, readInput } from "./devices.ts";
import { linkDevices } from "./links.ts";
import { type ChosenScaling, chooseScaling } from "./scale.ts";
import { spreadWarnings } from "./warnings.ts";

export interface PrepareOptions extends InputOptions {
  readonly graph: string;
  readonly scale: string;
  readonly seed: number;
}

export interface Prepared {
  readonly input: Input;
  readonly names: readonly string[];
  /** Scaled. */
  readonly datasets: readonly Matrix[];
  readonly scaling: ChosenScaling["scaling"];
  readonly graph: Graph;
  readonly warnings: readonly string[];
}

export async function prepare(
  patterns: readonly string[],
  options: PrepareOptions,
  onFile: (file: string) => void,
  graphs?: Plugins["graphs"],
): Promise<Prepared> {
  const input = await readInput(patterns, options, onFile);
  const datasets = input.devices.map(({ points }) => points);
  const names = input.devices.map(({ name }) => name);
  const { scaling, warnings } = await chooseScaling(options.scale, input.columns, datasets);
  const spread = scaling.kind === "none" ? spreadWarnings(input.columns, datasets) : [];
  // In place: nobody needs the rows as they were, and the files are still there.
  if (scaling.kind !== "none") for (const points of datasets) applyScaling(points, scaling);
  const graph = await linkDevices(options.graph, names, datasets, options.seed, graphs);
  return { input, names, datasets, scaling, graph, warnings: [...input.warnings, ...warnings, ...spread] };
}
