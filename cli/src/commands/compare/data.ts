// What fedkm compare is asked, and its data: by name, or from a user's files, where devices are as in fedkm fit and one file is dealt.

import { stack } from "@fedkm/core";
import {
  type ComparedData,
  type ComparisonStart,
  comparedData,
  comparedDatasets,
  comparedDeviceNames,
  dealBy,
  type Plugins,
  parseDeal,
  type Split,
} from "@fedkm/experiments";
import {
  applyChosenScaling,
  checkClassColumn,
  chooseScaling,
  type Progress,
  type RowsRequest,
  readInput,
  readInputClasses,
} from "@fedkm/tables";
import { parseChoice } from "../../arguments.ts";
import { UsageError } from "../../failure.ts";
import type { SourceFlags } from "../../input/options.ts";
import { inputRowsOfCommand } from "../../input/reading.ts";
import type { PluginFlags } from "../../plugins.ts";

export interface CompareFlags extends RowsRequest, SourceFlags, PluginFlags {
  /** Instead of `dataset`, where there are any. */
  readonly files: readonly string[];
  readonly dataset: string;
  /** The column of the classes. */
  readonly classes?: string;
  readonly scale: string;
  /** Where there is one file, or none: how many devices share the rows. */
  readonly devices: number;
  /** And how. Default even. */
  readonly split?: string;
  /** Of each device, where data are drawn. */
  readonly typicalRows: number;
  readonly seed: number;
  readonly method?: readonly string[];
  readonly init: ComparisonStart;
  /** As typed: method.option=value. */
  readonly set: readonly string[];
  readonly messages?: number;
  readonly runs: number;
  readonly k?: number;
  readonly alpha: number;
  readonly graph: string;
  /** The picture's file. */
  readonly out: string;
  readonly json?: true;
}

/** By seed: of files where there are any, which are read once, and otherwise by name. */
export async function compareCommandData(
  options: CompareFlags,
  plugged: Plugins["datasets"],
  onFile: (file: string) => void,
): Promise<(seed: number) => ComparedData> {
  if (options.files.length > 0) return fileData(options, onFile);
  return (seed) => namedData({ ...options, seed }, plugged);
}

/** Data by name: of a plug-in, or those that come with the command. */
function namedData(options: CompareFlags, plugged: Plugins["datasets"]): ComparedData {
  const { dataset, devices, typicalRows, seed, split } = options;
  const request = { devices, pointsPerDevice: typicalRows, seed };
  if (Object.hasOwn(plugged, dataset)) {
    if (split !== undefined) throw new UsageError(`--split must not be used with data of a plug-in, got "${split}"`);
    const drawn = plugged[dataset](request);
    return { name: dataset, names: comparedDeviceNames(drawn.datasets.length), ...drawn };
  }
  const name = parseChoice("--dataset", [...comparedDatasets, ...Object.keys(plugged)])(dataset);
  return comparedData(name as (typeof comparedDatasets)[number], splitOf(split), request);
}

async function fileData(
  options: CompareFlags,
  onFile: (file: string) => void,
): Promise<(seed: number) => ComparedData> {
  const { files, classes: column, scale, devices } = options;
  const split = splitOf(options.split);
  if (column === undefined && (split.kind === "dirichlet" || split.kind === "classes")) {
    throw new UsageError(`--split ${options.split} needs --classes for your files`);
  }
  const rows = await inputRowsOfCommand(files, options, process.env);
  if (column !== undefined) await checkClassColumn(rows.files[0], column, options);
  const hidden = column === undefined || options.columns !== undefined ? [] : [column];
  const reading = { ...options, ...(hidden.length > 0 && { exclude: [...(options.exclude ?? []), ...hidden] }) };
  const onProgress = (step: Progress) => void (step.step === "read" && onFile(step.name));
  const input = await readInput({ ...reading, ...rows }, { onProgress });
  const labels = column === undefined ? undefined : await readInputClasses(input, column, options);
  const datasets = input.devices.map(({ points }) => points);
  const { scaling } = await chooseScaling(scale, input.encoding, datasets);
  applyChosenScaling(datasets, scaling);
  const name = files.join(" ");
  const k = labels && new Set(labels.flatMap((own) => [...own])).size;
  if (datasets.length > 1 && options.split !== undefined) {
    throw new UsageError(
      `--split must be left out with several files (each is a device), got ${datasets.length} files`,
    );
  }
  if (datasets.length > 1) return () => ({ name, names: input.devices.map((own) => own.name), datasets, labels, k });
  const all = { points: stack(datasets), labels: labels?.[0] ?? new Uint32Array(datasets[0].rows) };
  return (seed) => {
    const dealt = dealBy(split, all, devices, seed);
    return { name, names: comparedDeviceNames(devices), datasets: dealt.datasets, labels: labels && dealt.labels, k };
  };
}

/** The rule of --split; even where none is given. */
function splitOf(rule = "even"): Split {
  const split = parseDeal(rule);
  if (split === undefined) {
    throw new UsageError(`--split must be even, dirichlet:A (A > 0), classes:K or sizes:S (S >= 1), got "${rule}"`);
  }
  return split;
}
