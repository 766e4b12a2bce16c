// Data by name: drawn ones, two small real sets that come with the package, and the user's own; dealt to the devices of a
// cell or of a comparison.

import { readFileSync } from "node:fs";
import {
  communityData,
  type LabelledPoints,
  type Matrix,
  matrix,
  type Partition,
  paperData,
  splitEvenly,
  takeRows,
} from "@fedkm/core";
import { principalComponents } from "@fedkm/pictures";
import {
  type DatasetName,
  type DealtName,
  type DrawnName,
  dealBy,
  parseDeal,
  type Split,
  type StudyCell,
} from "../cell.ts";

/** Points dealt to devices, and rows of each that it has not seen, where some are held back. */
export interface DealtPoints extends Partition {
  readonly unseen?: readonly Matrix[];
}

/** The points of a cell, dealt to its devices. `features` are the user's points, for cells that name them. */
export function trialPartition(cell: StudyCell, features: LabelledPoints | undefined): DealtPoints {
  const { dataset, devices, pointsPerDevice, seed } = cell;
  if (dataset === "iso" || dataset === "var" || dataset === "aniso") {
    return paperData(dataset, devices, needed(pointsPerDevice, dataset), seed);
  }
  if (isDealt(dataset)) return dealtPoints(dataset, devices, needed(pointsPerDevice, dataset), seed);
  if (dataset === "communities") return communityData(devices / 2, needed(pointsPerDevice, dataset), seed);
  return splitEvenly(givenTrialPoints(dataset, features), devices, seed);
}

/** Of every device's rows, one in so many is held back. */
const HELD_BACK = 5;

/** What every device sees, and what it is judged by. Rows come class by class or in random order: this is fair to both. */
function holdBackRows(datasets: readonly Matrix[]): { readonly seen: Matrix[]; readonly unseen: Matrix[] } {
  const part = (points: Matrix, held: boolean) => {
    const rows = Array.from({ length: points.rows }, (_, row) => row);
    return takeRows(
      points,
      rows.filter((row) => (row % HELD_BACK === HELD_BACK - 1) === held),
    );
  };
  return { seen: datasets.map((own) => part(own, false)), unseen: datasets.map((own) => part(own, true)) };
}

function isDealt(dataset: DatasetName): dataset is DealtName {
  return dataset.includes(" ");
}

function dealtPoints(dataset: DealtName, devices: number, pointsPerDevice: number, seed: number): DealtPoints {
  const [kind, split] = dataset.split(" ");
  const all = drawnTrialPoints(kind as DrawnName, devices * pointsPerDevice, seed);
  const dealt = dealBy(parseDeal(split) as Split, all, devices, seed);
  const { seen, unseen } = holdBackRows(dealt.datasets);
  // Classes are asked for on real data only.
  return { datasets: seen, labels: seen.map(({ rows }) => new Uint32Array(rows)), unseen };
}

function needed(pointsPerDevice: number | null, dataset: DatasetName): number {
  if (pointsPerDevice === null) throw new RangeError(`pointsPerDevice must be a number for ${dataset} data, got null`);
  return pointsPerDevice;
}

export function givenTrialPoints(
  dataset: "iris" | "digits" | "features",
  features: LabelledPoints | undefined,
): LabelledPoints {
  if (dataset === "iris") return iris();
  if (dataset === "digits") return digits();
  if (features === undefined) throw new RangeError("features must be given for cells that name them, got none");
  return features;
}

/** A kind of the paper's data, drawn for one device. */
export function drawnTrialPoints(kind: DrawnName, rows: number, seed: number): LabelledPoints {
  const { datasets, labels } = paperData(kind, 1, rows, seed);
  return { points: datasets[0], labels: labels[0] };
}

const dataFile = (name: string) => readFileSync(new URL(`../../data/${name}`, import.meta.url), "utf8");

/** The cheapest centroids that any search has found for the classes of a set: undefined for sets without a record. */
export function bestKnownCentroids(dataset: string): Matrix | undefined {
  const known: { readonly [name: string]: { readonly centroids: readonly (readonly number[])[] } } = JSON.parse(
    dataFile("best-known.json"),
  );
  return Object.hasOwn(known, dataset) ? matrix(known[dataset].centroids) : undefined;
}

/** Fisher's 150 flowers of three species, four lengths in centimetres. */
function iris(): LabelledPoints {
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
function digits(): LabelledPoints {
  const lines = dataFile("digits.txt").trimEnd().split("\n");
  const pixels = lines.flatMap((line) => Array.from(line.slice(2), (level) => Number.parseInt(level, 17)));
  const points = { data: Float64Array.from(pixels), rows: lines.length, cols: PIXELS };
  return {
    points: principalComponents(points, COMPONENTS),
    labels: Uint32Array.from(lines, (line) => Number(line[0])),
  };
}
