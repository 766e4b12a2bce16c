// What a careful colleague would say about a result: who is not described by it, what is too small, what did not settle.

import { connectedComponents } from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";
import type { Input } from "../input/readTables.ts";
import { isAlone, type Model } from "../model/model.ts";
import type { FittedRows } from "../model/outcome.ts";
import { count } from "../numbers.ts";
import { collinearityWarnings } from "./collinearity.ts";
import { type DevicesApart, FEW_ROWS } from "./deviceFit.ts";

interface JudgedRows extends Omit<FittedRows, "numbersAgree" | "warnings"> {
  readonly apart: DevicesApart;
}

export function resultWarnings(result: JudgedRows, input: Input): string[] {
  const { model, graph } = result;
  const { k, method } = model.options;
  const small = model.devices.filter(({ rows }) => rows < FEW_ROWS * k).map(({ name, rows }) => `${name} (${rows})`);
  const parts = new Set(connectedComponents(graph)).size;
  const total = totalRows(model);
  return [
    ...deviceWarnings(result),
    ...singleRows(result, input),
    ...collinearityWarnings(result),
    ...(small.length > 0 ? [`fewer than ${FEW_ROWS} rows a cluster: ${listed(small)}`] : []),
    ...(parts > 1 ? [`the network falls into ${parts} parts that never hear of each other`] : []),
    ...(model.converged ? [] : [`${method} did not settle in ${model.rounds} rounds; ${settlingRemedy(model)}`]),
    ...(input.dropped > 0.05 * (total + input.dropped)
      ? ["more than 5 % of the rows were dropped; see which with fedkm inspect"]
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
  if (isAlone(model)) {
    return [
      "each device stays alone: cluster 0 of one device need not be cluster 0 of another, and the table may add up rows " +
        "that do not belong together; the report has a table for each device",
    ];
  }
  const named = (numbers: readonly number[]) => listed(numbers.map((i) => devices[i].name));
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
    ...(differing.length === 0 ? [] : [2 * rows >= totalRows(model) ? nobody : some]),
    ...(misnumbered.length === 0 ? [] : [numbers]),
  ];
}

/** With fewer rows for each cluster, a cluster of one is no surprise. */
const ROWS_FOR_SINGLES = 5;

/** Clusters of one row, each with the file where the row stands. */
function singleRows({ model, labels, sums }: JudgedRows, input: Input): string[] {
  const { k } = model.options;
  const singles = Array.from(sums.totals.keys()).filter((c) => sums.totals[c] === 1);
  if (singles.length === 0 || totalRows(model) < ROWS_FOR_SINGLES * k) return [];
  // A row of a source has no number.
  if (input.sources.some((source) => source !== undefined)) return [`clusters of a single row: ${singles.join(", ")}`];
  if (singles.length > MOST_NAMES) {
    const remedy = "look at these rows, and if they are mistakes, fit again without them";
    return [`${count(singles.length)} clusters have a single row each: outliers take whole clusters; ${remedy}`];
  }
  const remedy = "look at it, and if it is a mistake, fit again without it";
  return singles.map((c) => {
    const device = labels.findIndex((own) => own.includes(c));
    const { file, row } = rowInFile(input, device, labels[device].indexOf(c));
    return `cluster ${c} has a single row, row ${count(row + 1)} of ${file}: an outlier takes a whole cluster; ${remedy}`;
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

function totalRows({ devices }: Model): number {
  return devices.reduce((sum, { rows }) => sum + rows, 0);
}

const MOST_NAMES = 5;

function listed(names: readonly string[]): string {
  if (names.length <= MOST_NAMES) return names.join(", ");
  return `${names.slice(0, MOST_NAMES).join(", ")} and ${names.length - MOST_NAMES} more`;
}
