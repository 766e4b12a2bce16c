// The data that methods are compared on, whatever they come from: points dealt to devices, and their classes if known.

import { type LabelledPoints, type Matrix, paperData } from "@fedkm/core";
import { dealBy, digits, iris, type Plugins, parseSplit, type Split } from "@fedkm/experiments";
import { parseChoice } from "../../arguments.ts";
import { UsageError } from "../../failure.ts";

export interface ComparedData {
  /** For a person: what it is. */
  readonly name: string;
  /** Of the devices. */
  readonly names: readonly string[];
  readonly datasets: readonly Matrix[];
  readonly labels?: readonly Uint32Array[] | undefined;
  /** As many clusters as it is known to have. */
  readonly k?: number | undefined;
}

export const datasetNames = ["iso", "var", "aniso", "iris", "digits"] as const;

type DatasetName = (typeof datasetNames)[number];

export function isBuiltIn(name: string): name is DatasetName {
  return datasetNames.some((own) => own === name);
}

interface Deal {
  readonly devices: number;
  readonly points: number;
  readonly seed: number;
  readonly split?: string;
}

/** The rule of --split; even where none is given. */
export function splitOf(rule = "even"): Split {
  const split = parseSplit(rule);
  if (split === undefined) {
    throw new UsageError(`--split must be even, dirichlet:A (A > 0), classes:K or sizes:S (S >= 1), got "${rule}"`);
  }
  return split;
}

/** Data by name: of a plug-in, or those that come with the command. */
export function namedData(name: string, deal: Deal, plugged: Plugins["datasets"]): ComparedData {
  if (Object.hasOwn(plugged, name)) {
    const { devices, points, seed, split } = deal;
    if (split !== undefined) throw new UsageError(`--split must not be used with data of a plug-in, got "${split}"`);
    const drawn = plugged[name]({ devices, pointsPerDevice: points, seed });
    return { name, names: drawn.datasets.map((_, i) => String(i)), ...drawn };
  }
  return builtInData(parseChoice("--dataset", [...datasetNames, ...Object.keys(plugged)])(name) as DatasetName, deal);
}

/** `points` are those of a drawn device, in the mean. */
function builtInData(name: DatasetName, { devices, points, seed, split: rule }: Deal): ComparedData {
  const split = splitOf(rule);
  const names = Array.from({ length: devices }, (_, i) => String(i));
  const known = { name, names, k: name === "digits" ? 10 : 3 };
  // The paper's data as the paper deals them.
  if (isDrawn(name) && split.kind === "even") return { ...known, ...paperData(name, devices, points, seed) };
  return { ...known, ...dealBy(split, allPoints(name, devices * points, seed), devices, seed) };
}

/** All points in one place; `points` says how many, where they are drawn. */
export function allPoints(name: DatasetName, points: number, seed: number): LabelledPoints {
  if (!isDrawn(name)) return name === "iris" ? iris() : digits();
  const { datasets, labels } = paperData(name, 1, points, seed);
  return { points: datasets[0], labels: labels[0] };
}

function isDrawn(name: DatasetName): name is "iso" | "var" | "aniso" {
  return name !== "iris" && name !== "digits";
}
