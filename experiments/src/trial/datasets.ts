// Data by name: drawn ones, two small real sets that come with the package, and the user's own; dealt to the devices of a
// cell or of a comparison.

import { readFileSync } from "node:fs";
import {
  communityData,
  type LabelledPoints,
  type Matrix,
  matrix,
  type PaperKind,
  type PaperReading,
  type Partition,
  paperData,
  takeRows,
} from "@fedkm/core";
import { principalComponents } from "@fedkm/pictures";
import { dealBy, parseDeal, type Split, type StudyCell } from "../cell.ts";

/** Points dealt to devices, and rows of each that it has not seen, where some are held back. */
export interface DealtPoints extends Partition {
  readonly unseen?: readonly Matrix[];
}

/** Rows of the user's own: as devices where there are several parts, else to be dealt. Without classes all are 0. */
export type GivenData = { readonly [name: string]: Partition };

/** The points of a cell, dealt to its devices. `given` are the user's, for cells that name them. */
export function trialPartition(cell: StudyCell, given: GivenData): DealtPoints {
  const { heldBack } = cell;
  const dealt = dealtPartition(cell, given);
  return heldBack ? holdBackRows(dealt) : dealt;
}

function dealtPartition({ dataset, split, devices, pointsPerDevice, seed }: StudyCell, given: GivenData): Partition {
  const [kind, reading] = dataset.split(":");
  if (dataset === "communities") return communityData(devices / 2, needed(pointsPerDevice, dataset), seed);
  if (isDrawnKind(kind)) {
    const rows = needed(pointsPerDevice, dataset);
    const other = reading as PaperReading | undefined;
    if (split === null) return paperData(kind, devices, rows, seed, other);
    return dealBy(parseDeal(split) as Split, drawnTrialPoints(kind, devices * rows, seed, other), devices, seed);
  }
  const own = Object.hasOwn(given, dataset) ? given[dataset] : undefined;
  if (own !== undefined && own.datasets.length > 1) return own;
  const points = own ? { points: own.datasets[0], labels: own.labels[0] } : givenTrialPoints(dataset);
  return dealBy(parseDeal(split ?? "even") as Split, points, devices, seed);
}

export function isDrawnKind(kind: string): kind is PaperKind {
  return kind === "iso" || kind === "var" || kind === "aniso";
}

/** Of every device's rows, one in so many is held back. */
const HELD_BACK = 5;

/** What every device sees, and what it is judged by. Rows come class by class or in random order: this is fair to both. */
function holdBackRows({ datasets, labels }: Partition): DealtPoints {
  const rowsOf = (rows: number, held: boolean) =>
    Array.from({ length: rows }, (_, row) => row).filter((row) => (row % HELD_BACK === HELD_BACK - 1) === held);
  return {
    datasets: datasets.map((own) => takeRows(own, rowsOf(own.rows, false))),
    labels: labels.map((own) => Uint32Array.from(rowsOf(own.length, false), (row) => own[row])),
    unseen: datasets.map((own) => takeRows(own, rowsOf(own.rows, true))),
  };
}

function needed(pointsPerDevice: number | null, dataset: string): number {
  if (pointsPerDevice === null) throw new RangeError(`pointsPerDevice must be a number for ${dataset} data, got null`);
  return pointsPerDevice;
}

/** What comes with the package, with its number of classes. */
export const bundledClasses: { readonly [name: string]: number } = { iris: 3, digits: 10 };

export function givenTrialPoints(dataset: string): LabelledPoints {
  if (dataset === "iris") return iris();
  if (dataset === "digits") return digits();
  throw new RangeError(`data must be iso, var, aniso, communities, iris, digits or given, got ${dataset}`);
}

/** A kind of the paper's data, drawn for one device. */
export function drawnTrialPoints(kind: PaperKind, rows: number, seed: number, reading?: PaperReading): LabelledPoints {
  const { datasets, labels } = paperData(kind, 1, rows, seed, reading);
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
