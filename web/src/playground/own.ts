// The reader's own files: rows of numbers on one scale, one device for each file, or one file dealt to several devices.

import { type Matrix, splitEvenly, takeRows } from "@fedkm/core";
import { applyScaling, completeRows, readTable, standardScaling } from "@fedkm/files";
import type { OwnData } from "./run.svelte.ts";

/** Rows with a missing cell are left out. */
export async function readOwn(files: readonly File[], devices: number): Promise<OwnData> {
  const tables: Matrix[] = [];
  let columns: readonly string[] | undefined;
  for (const file of files) {
    const table = await readTable(file, columns === undefined ? {} : { columns });
    columns ??= table.columns;
    const complete = completeRows(table);
    const kept = Array.from({ length: table.points.rows }, (_, r) => r).filter((r) => complete?.[r] !== 0);
    if (kept.length === 0) throw new RangeError(`${file.name} must have a row without missing cells, got none`);
    tables.push(complete === undefined ? table.points : takeRows(table.points, kept));
  }
  const datasets = tables.length === 1 ? dealt(tables[0], devices) : tables;
  const scaling = standardScaling(datasets);
  for (const points of datasets) applyScaling(points, scaling);
  return { name: files.map(({ name }) => name).join(", "), datasets };
}

/** In random order, so that a sorted file is no split by cluster. */
function dealt(points: Matrix, devices: number): readonly Matrix[] {
  const labels = new Uint32Array(points.rows);
  return splitEvenly({ points, labels }, Math.min(devices, points.rows), 0).datasets;
}
