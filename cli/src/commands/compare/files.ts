// A user's files as data of a comparison: devices as in fedkm fit; one file alone is dealt evenly.

import { type Matrix, splitEvenly, stack } from "@fedkm/core";
import { applyScaling } from "@fedkm/files";
import { checkClassColumn, readClasses } from "../../input/classes.ts";
import { type InputOptions, readInput } from "../../input/devices.ts";
import { chooseScaling } from "../../input/scale.ts";
import type { ComparedData } from "./data.ts";

export interface FileOptions extends InputOptions {
  /** The column of the classes. */
  readonly classes?: string;
  readonly scale: string;
  /** Where there is one file: how many devices share it. */
  readonly devices: number;
  readonly seed: number;
}

export async function fileData(
  patterns: readonly string[],
  options: FileOptions,
  onFile: (file: string) => void,
): Promise<ComparedData> {
  const { classes: column, scale, devices, seed } = options;
  if (column !== undefined) await checkClassColumn(patterns, column, options);
  const hidden = column === undefined || options.columns !== undefined ? [] : [column];
  const reading = { ...options, ...(hidden.length > 0 && { exclude: [...(options.exclude ?? []), ...hidden] }) };
  const input = await readInput(patterns, reading, onFile);
  const labels = column === undefined ? undefined : await readClasses(input, column, options);
  const datasets = input.devices.map(({ points }) => points);
  const { scaling } = await chooseScaling(scale, input.columns, datasets);
  if (scaling.kind !== "none") for (const points of datasets) applyScaling(points, scaling);
  const name = patterns.join(" ");
  const k = labels && new Set(labels.flatMap((own) => [...own])).size;
  if (datasets.length > 1) return { name, names: input.devices.map((own) => own.name), datasets, labels, k };
  const dealt = splitEvenly({ points: stack(datasets), labels: labels?.[0] ?? noClasses(datasets[0]) }, devices, seed);
  const names = dealt.datasets.map((_, i) => String(i));
  return { name, names, datasets: dealt.datasets, labels: labels && dealt.labels, k };
}

function noClasses({ rows }: Matrix): Uint32Array {
  return new Uint32Array(rows);
}
