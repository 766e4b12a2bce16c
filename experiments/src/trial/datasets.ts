// Data by name: drawn ones, two small real sets that come with the package, and the user's own; dealt to the devices of a
// cell or of a comparison.

import { readFileSync } from "node:fs";
import { communityData, type LabelledPoints, type Matrix, type Partition, paperData, splitEvenly } from "@fedkm/core";
import { principalComponents } from "@fedkm/pictures";
import {
  type DatasetName,
  type DealtName,
  type DrawnName,
  dealBy,
  holdBackRows,
  parseSplit,
  type Split,
  type StudyCell,
} from "../cell.ts";
import type { DataRequest } from "../plugins/plugin.ts";

/** Points dealt to devices, and rows of each that it has not seen, where some are held back. */
export interface DealtPoints extends Partition {
  readonly unseen?: readonly Matrix[];
}

/** The points of a cell, dealt to its devices. `features` are the user's points, for cells that name them. */
export function partitionOf(cell: StudyCell, features: LabelledPoints | undefined): DealtPoints {
  const { dataset, devices, pointsPerDevice, seed } = cell;
  if (dataset === "iso" || dataset === "var" || dataset === "aniso") {
    return paperData(dataset, devices, needed(pointsPerDevice, dataset), seed);
  }
  if (isDealt(dataset)) return dealtPoints(dataset, devices, needed(pointsPerDevice, dataset), seed);
  if (dataset === "communities") return communityData(devices / 2, needed(pointsPerDevice, dataset), seed);
  return splitEvenly(givenPoints(dataset, features), devices, seed);
}

function isDealt(dataset: DatasetName): dataset is DealtName {
  return dataset.includes(" ");
}

function dealtPoints(dataset: DealtName, devices: number, pointsPerDevice: number, seed: number): DealtPoints {
  const [kind, split] = dataset.split(" ");
  const all = allPoints(kind as DrawnName, devices * pointsPerDevice, seed);
  const dealt = dealBy(parseSplit(split) as Split, all, devices, seed);
  const { seen, unseen } = holdBackRows(dealt.datasets);
  // Classes are asked for on real data only.
  return { datasets: seen, labels: seen.map(({ rows }) => new Uint32Array(rows)), unseen };
}

function needed(pointsPerDevice: number | null, dataset: DatasetName): number {
  if (pointsPerDevice === null) throw new RangeError(`pointsPerDevice must be a number for ${dataset} data, got null`);
  return pointsPerDevice;
}

function givenPoints(dataset: "iris" | "digits" | "features", features: LabelledPoints | undefined): LabelledPoints {
  if (dataset === "iris") return iris();
  if (dataset === "digits") return digits();
  if (features === undefined) throw new RangeError("features must be given for cells that name them, got none");
  return features;
}

/** What methods are compared on, whatever it comes from. */
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

/** The data of a comparison that come with the package. */
export const comparedDatasets = ["iso", "var", "aniso", "iris", "digits"] as const;

/** One of these, dealt by a split. `pointsPerDevice` are those of a drawn device, in the mean. */
export function comparedData(
  name: (typeof comparedDatasets)[number],
  split: Split,
  { devices, pointsPerDevice, seed }: DataRequest,
): ComparedData {
  const known = { name, names: deviceNumbers(devices), k: name === "digits" ? 10 : 3 };
  if (name === "iris" || name === "digits") {
    return { ...known, ...dealBy(split, givenPoints(name, undefined), devices, seed) };
  }
  // The paper's data as the paper deals them.
  if (split.kind === "even") return { ...known, ...paperData(name, devices, pointsPerDevice, seed) };
  return { ...known, ...dealBy(split, allPoints(name, devices * pointsPerDevice, seed), devices, seed) };
}

export function deviceNumbers(devices: number): string[] {
  return Array.from({ length: devices }, (_, i) => String(i));
}

/** A kind of the paper's data, drawn for one device. */
function allPoints(kind: DrawnName, rows: number, seed: number): LabelledPoints {
  const { datasets, labels } = paperData(kind, 1, rows, seed);
  return { points: datasets[0], labels: labels[0] };
}

const dataFile = (name: string) => readFileSync(new URL(`../../data/${name}`, import.meta.url), "utf8");

/** Fisher's 150 flowers of three species, four lengths in centimetres. */
export function iris(): LabelledPoints {
  const [, ...lines] = dataFile("iris.csv").trimEnd().split("\n");
  const rows = lines.map((line) => line.split(",").map(Number));
  return {
    points: { data: Float64Array.from(rows.flatMap((row) => row.slice(0, 4))), rows: rows.length, cols: 4 },
    labels: Uint32Array.from(rows, (row) => row[4]),
  };
}

const PIXELS = 64;
const COMPONENTS = 16;

/** 1,797 written digits of 8 x 8 pixels, as their 16 principal components. */
export function digits(): LabelledPoints {
  const lines = dataFile("digits.txt").trimEnd().split("\n");
  const pixels = lines.flatMap((line) => Array.from(line.slice(2), (level) => Number.parseInt(level, 17)));
  const points = { data: Float64Array.from(pixels), rows: lines.length, cols: PIXELS };
  return {
    points: principalComponents(points, COMPONENTS),
    labels: Uint32Array.from(lines, (line) => Number(line[0])),
  };
}
