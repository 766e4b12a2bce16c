// The data that cells name: drawn ones, two small real sets that come with the package, and the user's own.

import { readFileSync } from "node:fs";
import { type LabelledPoints, type Matrix, type Partition, paperData, splitEvenly, twoCommunities } from "@fedkm/core";
import { principalComponents } from "@fedkm/pictures";
import type { Cell, DatasetName, DealtName, DrawnName } from "./cell.ts";
import { dealBy, holdBack, parseSplit, type Split } from "./split.ts";

/** Points dealt to devices, and rows of each that it has not seen, where some are held back. */
export interface DealtPoints extends Partition {
  readonly unseen?: readonly Matrix[];
}

/** The points of a cell, dealt to its devices. `features` are the user's points, for cells that name them. */
export function partitionOf(cell: Cell, features: LabelledPoints | undefined): DealtPoints {
  const { dataset, devices, pointsPerDevice, seed } = cell;
  if (dataset === "iso" || dataset === "var" || dataset === "aniso") {
    return paperData(dataset, devices, needed(pointsPerDevice, dataset), seed);
  }
  if (isDealt(dataset)) return dealtPoints(dataset, devices, needed(pointsPerDevice, dataset), seed);
  if (dataset === "communities") return twoCommunities(devices / 2, needed(pointsPerDevice, dataset), seed);
  return splitEvenly(givenPoints(dataset, features), devices, seed);
}

function isDealt(dataset: DatasetName): dataset is DealtName {
  return dataset.includes(" ");
}

function dealtPoints(dataset: DealtName, devices: number, pointsPerDevice: number, seed: number): DealtPoints {
  const [kind, split] = dataset.split(" ");
  const { datasets, labels } = paperData(kind as DrawnName, 1, devices * pointsPerDevice, seed);
  const dealt = dealBy(parseSplit(split) as Split, { points: datasets[0], labels: labels[0] }, devices, seed);
  const { seen, unseen } = holdBack(dealt.datasets);
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

const dataFile = (name: string) => readFileSync(new URL(`../data/${name}`, import.meta.url), "utf8");

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
