// What a careful colleague would say about a result: who is not described by it, what is too small, what did not settle.

import { connectedComponents } from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";
import { principalAxes } from "@fedkm/pictures";
import type { Input } from "../input/readTables.ts";
import { BEYOND_CHANCE, type ClusterSums, type FittedRows, squaredMeanDistance } from "../model/clusterSums.ts";
import { isModelAlone, type Model, modelRows } from "../model/model.ts";
import { sampleRows, sampleRowsForAxes } from "../model/sampleRows.ts";
import { countLabel, firstNames } from "../numbers.ts";

// Whether one table of clusters fits every device: whose means lie elsewhere, and whose numbers mean something else.

interface DevicesApart {
  /** Devices whose rows lie farther from the table's means, by squares, than they scatter around means of their own. */
  readonly differing: readonly number[];
  /** Devices with clusters that are nearer to another number's mean in the table than to that of their own number. */
  readonly misnumbered: readonly number[];
}

/** Fewer rows than this say little, about a cluster or about a device. */
const FEW_ROWS = 10;

/** So large a share of a device's rows has to be in clusters of a wrong number before it is named. */
const MISNUMBERED_SHARE = 0.1;

/** A device is in one list at most: where numbers are mixed up, distances between equal numbers say nothing more. */
export function devicesApart(sums: ClusterSums): DevicesApart {
  const { k, counts, totals } = sums;
  const all = totals.reduce((sum, total) => sum + total, 0);
  const differing: number[] = [];
  const misnumbered: number[] = [];
  for (let i = 0; i * k < counts.length; i++) {
    const rows = counts.subarray(i * k, (i + 1) * k).reduce((sum, count) => sum + count, 0);
    if (rows < FEW_ROWS || rows === all) continue;
    if (misnumberedRows(sums, i) > MISNUMBERED_SHARE * rows) misnumbered.push(i);
    else if (differs(sums, i)) differing.push(i);
  }
  return { differing, misnumbered };
}

/**
 * What the table's means cost beyond the device's own ones, against the scatter that nobody can take away. The own means
 * are better by chance too, by about one variance for each cluster.
 */
function differs({ k, cols, counts, means, common, variances }: ClusterSums, i: number): boolean {
  let [excess, scatter, chance, chanceSquared] = [0, 0, 0, 0];
  for (let c = 0; c < k; c++) {
    const count = counts[i * k + c];
    const variance = variances[c];
    if (count === 0 || Number.isNaN(variance)) continue;
    excess += count * squaredMeanDistance(means, i * k + c, common, c, cols);
    scatter += count * variance;
    chance += variance;
    chanceSquared += 2 * variance * variance;
  }
  return excess > scatter + chance + BEYOND_CHANCE * Math.sqrt(chanceSquared);
}

/** Rows of device i in clusters that are nearer, beyond chance, to another number's mean in the table. */
function misnumberedRows({ k, cols, counts, means, totals, common, variances }: ClusterSums, i: number): number {
  let rows = 0;
  for (let c = 0; c < k; c++) {
    const at = i * k + c;
    if (counts[at] === 0 || Number.isNaN(variances[c])) continue;
    let nearest = Number.POSITIVE_INFINITY;
    for (let other = 0; other < k; other++) {
      if (totals[other] > 0) nearest = Math.min(nearest, squaredMeanDistance(means, at, common, other, cols));
    }
    const own = squaredMeanDistance(means, at, common, c, cols);
    if (Math.sqrt(own) - Math.sqrt(nearest) > BEYOND_CHANCE * Math.sqrt(variances[c] / counts[at])) rows += counts[at];
  }
  return rows;
}

// Whether rows differ along one direction alone, so that clusters are slices along it: columns that measure one thing.

/** So much of the variance along one direction is all of it. */
const ALL = 0.99;

/**
 * k slices of rows that lie evenly along a line leave 1 / k^2 of their variance within the slices, and slices of a heap
 * leave more. Clusters that are apart leave far less: they are no slices, even if they lie on a line.
 */
const EVEN = 0.8;

/** A column with so much of a direction is that direction. */
const LEADING = 0.9;

type Fit = Pick<FittedRows, "datasets" | "labels" | "sums"> & {
  readonly model: Pick<FittedRows["model"], "columns" | "scaling" | "study">;
};

function collinearityWarnings({ datasets, labels, sums, model }: Fit): string[] {
  const { columns, scaling, study } = model;
  if (columns.length < 2 || sums.k < 2) return [];
  const { axes, shares, means } = principalAxes(sampleRowsForAxes(datasets, columns.length), 1);
  const [axis] = axes;
  if (!(shares[0] >= ALL) || withinAlong(axis, means, { datasets, labels, sums }) * sums.k ** 2 < EVEN) return [];
  const share = `${(100 * shares[0]).toFixed(1)} % of the variance`;
  const named = Array.from(axis.keys()).filter((c) => axis[c] ** 2 > (1 - LEADING) / columns.length);
  const leading = named.find((c) => axis[c] ** 2 >= LEADING);
  if (leading === undefined) {
    const names = named.slice(0, MOST_NAMES).map((c) => JSON.stringify(columns[c]));
    return [
      `${share} lies along one direction, in which ${names.join(", ")}${named.length > MOST_NAMES ? " and others" : ""} ` +
        "rise and fall together: clusters are slices along it; leave out columns that measure the same thing",
    ];
  }
  // Without scaling, its deviation was warned of; with --scale standard no column has more than another; and the scales
  // of a study are agreed on.
  if (scaling.kind !== "bounds" || study !== undefined) return [];
  return [
    `column ${JSON.stringify(columns[leading])} has ${share} between its bounds; give all columns the same say with ` +
      "--scale standard",
  ];
}

const MOST_NAMES = 5;

const MOST_ROWS = 20_000;

/** The share of the variance along the axis that is left around the means of clusters on their devices. */
function withinAlong(axis: Float64Array, centre: Float64Array, { datasets, labels, sums }: Omit<Fit, "model">): number {
  const { k, cols, means } = sums;
  let [within, all] = [0, 0];
  for (const { device, row } of sampleRows(datasets, MOST_ROWS)) {
    const { data } = datasets[device];
    const from = (device * k + labels[device][row]) * cols;
    let [own, common] = [0, 0];
    for (let x = 0; x < cols; x++) {
      own += axis[x] * (data[row * cols + x] - means[from + x]);
      common += axis[x] * (data[row * cols + x] - centre[x]);
    }
    within += own * own;
    all += common * common;
  }
  return within / all;
}

interface JudgedRows extends Omit<FittedRows, "numbersAgree" | "warnings"> {
  readonly apart: DevicesApart;
}

export function resultWarnings(result: JudgedRows, input: Input): string[] {
  const { model, graph } = result;
  const { k, method } = model.options;
  const small = model.devices.filter(({ rows }) => rows < FEW_ROWS * k).map(({ name, rows }) => `${name} (${rows})`);
  const parts = new Set(connectedComponents(graph)).size;
  const total = modelRows(model);
  return [
    ...deviceWarnings(result),
    ...singleRows(result, input),
    ...collinearityWarnings(result),
    ...(small.length > 0 ? [`fewer than ${FEW_ROWS} rows a cluster: ${firstNames(small, MOST_NAMES)}`] : []),
    ...(parts > 1 ? [`the network falls into ${parts} parts that never hear of each other`] : []),
    ...(model.converged ? [] : [`${method} did not settle in ${model.rounds} rounds; ${settlingRemedy(model)}`]),
    ...(input.dropped > 0.05 * (total + input.dropped)
      ? ["more than 5 % of the rows were dropped; fedkm inspect says in which columns cells are missing"]
      : []),
  ];
}

/** Below this the rounding of an update can be a move for ever. */
const LEAST_TOLERANCE = 1e-14;

/** What helps a run that did not settle. */
function settlingRemedy({ study, options: { preset, tol = defaults.tol } }: Model): string {
  if (study !== undefined) return "this is where they are after a simulated hour";
  if (tol < LEAST_TOLERANCE) return `use a --tol of at least ${LEAST_TOLERANCE}`;
  return preset === "paper"
    ? "allow more with --rounds, or settle in fewer with --preset dependable"
    : "allow more with --rounds";
}

function deviceWarnings({ model, apart: { differing, misnumbered } }: JudgedRows): string[] {
  const { devices } = model;
  if (isModelAlone(model)) {
    return [
      "each device stays alone: cluster 0 of one device need not be cluster 0 of another, and the table may add up rows " +
        "that do not belong together; the report has a table for each device",
    ];
  }
  const named = (numbers: readonly number[]) =>
    firstNames(
      numbers.map((i) => devices[i].name),
      MOST_NAMES,
    );
  const rows = differing.reduce((sum, i) => sum + devices[i].rows, 0);
  const why = "the means of the rows are farther from the table's than the rows scatter";
  const nobody =
    `devices differ so much that one table describes nobody: at ${named(differing)} ${why}; read the tables of ` +
    "single devices in the report, or leave every device alone with --alpha 0";
  const some = `the table does not describe ${named(differing)}: ${why}; the report has a table for each device`;
  const numbers =
    `cluster numbers do not mean the same at ${named(misnumbered)}, where clusters are nearer to another number's in ` +
    "the table; a larger --alpha brings them together";
  return [
    ...(differing.length === 0 ? [] : [2 * rows >= modelRows(model) ? nobody : some]),
    ...(misnumbered.length === 0 ? [] : [numbers]),
  ];
}

/** With fewer rows for each cluster, a cluster of one is no surprise. */
const ROWS_FOR_SINGLES = 5;

/** Clusters of one row, each with the file where the row stands. */
function singleRows({ model, labels, sums }: JudgedRows, input: Input): string[] {
  const { k } = model.options;
  const singles = Array.from(sums.totals.keys()).filter((c) => sums.totals[c] === 1);
  if (singles.length === 0 || modelRows(model) < ROWS_FOR_SINGLES * k) return [];
  // A row of a source has no number.
  if (input.sources.some((source) => source !== undefined)) return [`clusters of a single row: ${singles.join(", ")}`];
  if (singles.length > MOST_NAMES) {
    const remedy = "look at these rows, and if they are mistakes, fit again without them";
    return [`${countLabel(singles.length)} clusters have a single row each: outliers take whole clusters; ${remedy}`];
  }
  const remedy = "look at it, and if it is a mistake, fit again without it";
  return singles.map((c) => {
    const device = labels.findIndex((own) => own.includes(c));
    const { file, row } = rowInFile(input, device, labels[device].indexOf(c));
    return `cluster ${c} has a single row, row ${countLabel(row + 1)} of ${file}: an outlier takes a whole cluster; ${remedy}`;
  });
}

/** The file of a device's row, and its number among the rows of that file. */
function rowInFile({ files }: Input, device: number, nth: number): { file: string; row: number } {
  let seen = 0;
  for (const { file, rows, deviceOf } of files) {
    for (let row = 0; row < rows; row++) {
      if (deviceOf(row) === device && seen++ === nth) return { file, row };
    }
  }
  throw new Error(`device ${device} must have a row ${nth}`);
}
