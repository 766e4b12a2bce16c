// The data that methods are compared on, whatever they come from: points dealt to devices, and their classes if known.

import { type Matrix, paperData, splitEvenly } from "@fedkm/core";
import { digits, iris, type Plugins } from "@fedkm/experiments";
import { parseChoice } from "../../arguments.ts";

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

/** Data by name: of a plug-in, or those that come with the command. */
export function namedData(
  name: string,
  devices: number,
  points: number,
  seed: number,
  plugged: Plugins["datasets"],
): ComparedData {
  if (Object.hasOwn(plugged, name)) {
    const drawn = plugged[name]({ devices, pointsPerDevice: points, seed });
    return { name, names: drawn.datasets.map((_, i) => String(i)), ...drawn };
  }
  const own = parseChoice("--dataset", [...datasetNames, ...Object.keys(plugged)])(name) as DatasetName;
  return builtInData(own, devices, points, seed);
}

/** `points` are those of a drawn device; real sets are dealt evenly. */
function builtInData(name: DatasetName, devices: number, points: number, seed: number): ComparedData {
  const names = Array.from({ length: devices }, (_, i) => String(i));
  if (name === "iris") return { name, names, ...splitEvenly(iris(), devices, seed), k: 3 };
  if (name === "digits") return { name, names, ...splitEvenly(digits(), devices, seed), k: 10 };
  return { name, names, ...paperData(name, devices, points, seed), k: 3 };
}
