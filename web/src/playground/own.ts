// The reader's own files: rows of numbers on one scale, one device for each file, or one file dealt to several devices.

import { type Matrix, splitEvenly, takeRows } from "@fedkm/core";
import { applyScaling, completeTableRows, readLayout, readTable, standardScaling } from "@fedkm/files";

/** The reader's own rows, and what to call them. */
export interface OwnData {
  readonly name: string;
  readonly datasets: readonly Matrix[];
  /** What of them is not used, one reason each. */
  readonly leftOut: readonly string[];
}

/** Columns without numbers and rows with a missing cell are left out, and `leftOut` says so. */
export async function readOwn(files: readonly File[], devices: number): Promise<OwnData> {
  const layout = await readLayout(files[0]);
  const columns = layout.columns.filter(({ kind }) => kind === "number").map(({ name }) => name);
  // Without any number in it a file is refused by its reader, which says what was found.
  const selection = columns.length > 0 ? { columns } : {};
  const tables: Matrix[] = [];
  let incomplete = 0;
  for (const file of files) {
    const table = await readTable(file, selection);
    const complete = completeTableRows(table);
    const kept = Array.from({ length: table.points.rows }, (_, r) => r).filter((r) => complete?.[r] !== 0);
    if (kept.length === 0) throw new RangeError(`${file.name} must have a row without missing cells, got none`);
    incomplete += table.points.rows - kept.length;
    tables.push(complete === undefined ? table.points : takeRows(table.points, kept));
  }
  const datasets = tables.length === 1 ? dealt(tables[0], devices) : tables;
  const scaling = standardScaling(datasets);
  for (const points of datasets) applyScaling(points, scaling);
  const others = layout.columns.filter(({ name }) => !columns.includes(name)).map(({ name }) => name);
  const leftOut = [
    ...(others.length > 0 ? [`the columns without numbers: ${others.join(", ")}`] : []),
    ...(incomplete > 0 ? [`rows with missing cells: ${incomplete}`] : []),
  ];
  return { name: files.map(({ name }) => name).join(", "), datasets, leftOut };
}

/** In random order, so that a sorted file is no split by cluster. */
function dealt(points: Matrix, devices: number): readonly Matrix[] {
  const labels = new Uint32Array(points.rows);
  return splitEvenly({ points, labels }, Math.min(devices, points.rows), 0).datasets;
}
