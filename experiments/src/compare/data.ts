// What methods are compared on: data that come with the package, dealt to devices by a split.

import { type Matrix, paperData } from "@fedkm/core";
import { dealBy, type Split } from "../cell.ts";
import type { DataRequest } from "../plugins/plugin.ts";
import { bestKnownCentroids, bundledClasses, drawnTrialPoints, givenTrialPoints } from "../trial/datasets.ts";

/** Data on which methods are compared. */
export interface ComparedData {
  /** For a person: what it is. */
  readonly name: string;
  readonly names: readonly string[];
  readonly datasets: readonly Matrix[];
  readonly labels?: readonly Uint32Array[] | undefined;
  /** As many clusters as it is known to have. */
  readonly k?: number | undefined;
  /** The best centroids that anybody found for so many. */
  readonly bestKnown?: Matrix | undefined;
}

/** Data sets that need no file. */
export const comparedDatasets = ["iso", "var", "aniso", "iris", "digits"] as const;

/** One of these, dealt by a split. `pointsPerDevice` are those of a drawn device, in the mean. */
export function comparedData(
  name: (typeof comparedDatasets)[number],
  split: Split,
  { devices, pointsPerDevice, seed }: DataRequest,
): ComparedData {
  const known = { name, names: comparedDeviceNames(devices), k: bundledClasses[name] ?? 3 };
  if (name === "iris" || name === "digits") {
    const bestKnown = bestKnownCentroids(name);
    return { ...known, bestKnown, ...dealBy(split, givenTrialPoints(name), devices, seed) };
  }
  // The paper's data as the paper deals them.
  if (split.kind === "even") return { ...known, ...paperData(name, devices, pointsPerDevice, seed) };
  return { ...known, ...dealBy(split, drawnTrialPoints(name, devices * pointsPerDevice, seed), devices, seed) };
}

/** Names of devices that were drawn. */
export function comparedDeviceNames(devices: number): string[] {
  return Array.from({ length: devices }, (_, i) => String(i));
}
