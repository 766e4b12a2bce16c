// The rows behind the points: what a point says on hovering, and what the search of a report finds a row by.

import { firstEncodedColumns, unscaled } from "@fedkm/files";
import type { RowOrigin } from "../input/readTables.ts";
import type { FittedRows } from "../model/clusterSums.ts";
import { encodingOfModel } from "../model/model.ts";
import type { Trait } from "../model/profile.ts";
import { countLabel, readableDate, readableValue } from "../numbers.ts";

/** More rows would make the page slow to open: then those that are drawn can be found. */
const MOST_LISTED = 10_000;
/** The most telling columns: what is read at a glance. */
const MOST_COLUMNS = 6;

export interface RowList {
  /** The number of a row in the list, where it is added if it is not there. */
  numberOf(device: number, row: number): number;
  /** Where to search, and the rows for the page's script. */
  toString(): string;
}

export function listRows(
  { model, datasets, labels }: FittedRows,
  traits: readonly Trait[],
  origins: readonly (readonly RowOrigin[])[] | undefined,
): RowList {
  const { scaling, missing, devices, dates } = model;
  const encoding = encodingOfModel(model);
  const firsts = firstEncodedColumns(encoding);
  const columns = traits.slice(0, MOST_COLUMNS).map(({ name }) => encoding.findIndex((own) => own.name === name));
  const total = datasets.reduce((sum, { rows }) => sum + rows, 0);
  const places: (readonly [device: number, row: number])[] = [];
  const known = devices.map(() => new Map<number, number>());
  const numberOf = (device: number, row: number) => {
    const number = known[device].get(row) ?? places.length;
    if (number === places.length) {
      places.push([device, row]);
      known[device].set(row, number);
    }
    return number;
  };
  for (const [device, { rows }] of datasets.entries())
    for (let row = 0; row < rows && total <= MOST_LISTED; row++) numberOf(device, row);
  const cellOf = (device: number, row: number, c: number) => {
    const { data, cols } = datasets[device];
    const numberAt = (x: number) => unscaled(scaling, x, data[row * cols + x]);
    const { name, values } = encoding[c];
    const value = numberAt(firsts[c]);
    if (values !== undefined) return values.find((_, v) => numberAt(firsts[c] + v) > 0.999) ?? "not known";
    const fill = missing.fill?.[firsts[c]];
    // What takes the place of a missing cell is the same number up to the rounding of the scale.
    const isFilled = fill !== undefined && Math.abs(value - fill) <= 1e-9 * Math.max(1, Math.abs(fill));
    return isFilled ? "not known" : dates?.includes(name) ? readableDate(value) : readableValue(value);
  };
  const files = [...new Set(origins?.flat().map(({ file }) => file))];
  const record = ([device, row]: readonly [number, number]) => {
    const origin = origins?.[device]?.[row];
    const where =
      origin === undefined ? [-1, row + 1, ""] : [files.indexOf(origin.file), origin.number, origin.name ?? ""];
    return [...where, device, labels[device][row], ...columns.map((c) => cellOf(device, row, c))];
  };
  return {
    numberOf,
    toString() {
      const lists = {
        columns: columns.map((c) => encoding[c].name),
        files: files.map((file) => file.split(/[\\/]/).at(-1)),
        devices: devices.map(({ name }) => name),
        rows: places.map(record),
      };
      const by = origins?.[0]?.[0]?.name === undefined ? "the number of a row" : "a name or the number of a row";
      const among =
        places.length < total ? ` Among the ${countLabel(places.length)} rows that are drawn; labels/ has all.` : "";
      return `<p class="tools find" hidden><label>Find ${by} <input type="search" autocomplete="off"></label>${among}</p>
<ul class="found" aria-live="polite"></ul>
<script type="application/json" id="row-list">${JSON.stringify(lists).replaceAll("<", "\\u003c")}</script>`;
    },
  };
}
