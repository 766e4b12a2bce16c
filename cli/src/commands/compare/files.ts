// A user's files as data of a comparison: devices as in fedkm fit; one file alone is dealt to them.

import { type Matrix, stack } from "@fedkm/core";
import { dealBy } from "@fedkm/experiments";
import { applyScaling } from "@fedkm/files";
import {
  checkClassColumn,
  chooseScaling,
  isUnscaled,
  type Progress,
  type RowsRequest,
  readClasses,
  readRows,
} from "@fedkm/tables";
import { UsageError } from "../../failure.ts";
import type { SourceFlags } from "../../input/options.ts";
import { rowsAt } from "../../input/reading.ts";
import { type ComparedData, splitOf } from "./data.ts";

export interface FileOptions extends RowsRequest, SourceFlags {
  /** The column of the classes. */
  readonly classes?: string;
  readonly scale: string;
  /** Where there is one file: how many devices share it. */
  readonly devices: number;
  /** And how. Default even. */
  readonly split?: string;
  readonly seed: number;
}

export async function fileData(
  patterns: readonly string[],
  options: FileOptions,
  onFile: (file: string) => void,
): Promise<ComparedData> {
  const { classes: column, scale, devices, seed } = options;
  const split = splitOf(options.split);
  if (column === undefined && (split.kind === "dirichlet" || split.kind === "classes")) {
    throw new UsageError(`--split ${options.split} needs --classes with --data, got none`);
  }
  const { files, sources } = await rowsAt(patterns, options, process.env);
  if (column !== undefined) await checkClassColumn(files[0], column, options);
  const hidden = column === undefined || options.columns !== undefined ? [] : [column];
  const reading = { ...options, ...(hidden.length > 0 && { exclude: [...(options.exclude ?? []), ...hidden] }) };
  const onProgress = (step: Progress) => void (step.step === "read" && onFile(step.name));
  const input = await readRows({ ...reading, files, sources }, { onProgress });
  const labels = column === undefined ? undefined : await readClasses(input, column, options);
  const datasets = input.devices.map(({ points }) => points);
  const { scaling } = await chooseScaling(scale, input.encoding, datasets);
  if (!isUnscaled(scaling)) for (const points of datasets) applyScaling(points, scaling);
  const name = patterns.join(" ");
  const k = labels && new Set(labels.flatMap((own) => [...own])).size;
  if (datasets.length > 1 && options.split !== undefined) {
    throw new UsageError(
      `--split must be left out with several files (each is a device), got ${datasets.length} files`,
    );
  }
  if (datasets.length > 1) return { name, names: input.devices.map((own) => own.name), datasets, labels, k };
  const dealt = dealBy(
    split,
    { points: stack(datasets), labels: labels?.[0] ?? noClasses(datasets[0]) },
    devices,
    seed,
  );
  const names = dealt.datasets.map((_, i) => String(i));
  return { name, names, datasets: dealt.datasets, labels: labels && dealt.labels, k };
}

function noClasses({ rows }: Matrix): Uint32Array {
  return new Uint32Array(rows);
}
