// Whole numbers, one decimal or 0 and 1 lie on a grid, whose gaps are no valleys between clusters: such rows are spread over it.
// Categories, of which a row has one, are the corners of a simplex, and their rows are spread over that.

import { ln } from "../data/elementary.ts";
import type { Matrix } from "../data/matrix.ts";
import { hashRow } from "../data/random.ts";

/** A column with at least so many rows for each of its values lies on a grid. */
const ROWS_A_VALUE = 2;

/** A gap counts up to so many times the usual one: the ends of a column may be far from the rest of it. */
const WIDEST = 2;

/**
 * Every value of a column on a grid moves by at most half of the gap to its nearest neighbour, by a hash of its row: the same
 * row moves in the same way on whichever device it is, and equal rows of one device move differently.
 * @example spreadOverGrids([matrix([[0], [1], [2]])], 1)[0].rows // 3
 */
export function spreadOverGrids(datasets: readonly Matrix[], seed: number): readonly Matrix[] {
  const { cols } = datasets[0];
  const gaps = Array.from({ length: cols }, (_, c) => gapsOf(datasets, c));
  if (gaps.every((own) => own === undefined)) return datasets;
  const categories = categoriesOf(datasets, gaps);
  return datasets.map((own) => {
    const data = own.data.slice();
    const times = new Map<number, number>();
    for (let r = 0; r < own.rows; r++) {
      const hash = hashRow(own, r, seed);
      const time = times.get(hash) ?? 0;
      times.set(hash, time + 1);
      gaps.forEach((known, c) => {
        const gap = known?.get(own.data[r * cols + c]) ?? 0;
        if (gap > 0) data[r * cols + c] += gap * (mixed(hash, time, c) - 0.5);
      });
      for (const category of categories) spreadCategory(own, data, r, category, (c) => mixed(hash, time, c));
    }
    return { ...own, data };
  });
}

/** Columns from the first to before the last, where a row has a category or has not. */
interface Category {
  readonly from: number;
  readonly to: number;
  readonly without: number;
  readonly step: number;
}

/** Neighbouring columns with the same two values, of which every row has the larger one in one. */
function categoriesOf(
  datasets: readonly Matrix[],
  gaps: readonly (ReadonlyMap<number, number> | undefined)[],
): readonly Category[] {
  const categories: Category[] = [];
  const valuesOf = (c: number) => Array.from(gaps[c]?.keys() ?? []);
  for (let from = 0; from < gaps.length; from++) {
    const values = valuesOf(from);
    const isLike = (c: number) => values.length === 2 && String(valuesOf(c)) === String(values);
    let to = from + 1;
    let having = rowsHaving(datasets, from, to, values[1]);
    while (having === "none or one" && to < gaps.length && isLike(to)) {
      having = rowsHaving(datasets, from, ++to, values[1]);
    }
    if (having !== "one") continue;
    categories.push({ from, to, without: values[0], step: values[1] - values[0] });
    from = to - 1;
  }
  return categories;
}

/** In how many of these columns the rows have this value. */
function rowsHaving(datasets: readonly Matrix[], from: number, to: number, value: number | undefined) {
  let [none, several] = [false, value === undefined];
  for (const { data, rows, cols } of datasets) {
    for (let r = 0; r < rows; r++) {
      let count = 0;
      for (let c = from; c < to; c++) if (data[r * cols + c] === value) count++;
      if (count === 0) none = true;
      if (count > 1) several = true;
    }
  }
  return several ? "several" : none ? "none or one" : "one";
}

/** Evenly over the part of the simplex that is nearest to the corner of the row's category: between two of them is no gap. */
function spreadCategory(
  { data: given, cols }: Matrix,
  data: Float64Array,
  row: number,
  { from, to, without, step }: Category,
  draw: (column: number) => number,
): void {
  const shares = Array.from({ length: to - from }, (_, c) => -ln(1 - draw(from + c)));
  const sum = shares.reduce((total, share) => total + share, 0);
  const own = shares.findIndex((_, c) => given[row * cols + from + c] !== without);
  const largest = shares.indexOf(Math.max(...shares));
  [shares[own], shares[largest]] = [shares[largest], shares[own]];
  shares.forEach((share, c) => {
    data[row * cols + from + c] = without + (step * share) / (sum > 0 ? sum : 1);
  });
}

/** By value the gap that it may fill; undefined for a column without a grid. Devices say which values such a column has. */
function gapsOf(datasets: readonly Matrix[], column: number): Map<number, number> | undefined {
  const counts = new Map<number, number>();
  let rows = 0;
  for (const { data, rows: own, cols } of datasets) {
    rows += own;
    for (let r = 0; r < own; r++) {
      const value = data[r * cols + column];
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
  }
  if (counts.size < 2 || counts.size * ROWS_A_VALUE > rows) return undefined;
  const values = Float64Array.from(counts.keys()).sort();
  const gaps = Array.from(values, (value, i) =>
    Math.min(
      i > 0 ? value - values[i - 1] : Number.POSITIVE_INFINITY,
      i + 1 < values.length ? values[i + 1] - value : Number.POSITIVE_INFINITY,
    ),
  );
  const widest =
    WIDEST *
    usualGap(
      gaps,
      Array.from(values, (value) => counts.get(value) as number),
      rows,
    );
  return new Map(gaps.map((gap, i) => [values[i], Math.min(gap, widest)]));
}

/** The median over the rows. */
function usualGap(gaps: readonly number[], counts: readonly number[], rows: number): number {
  const order = Array.from(gaps.keys()).sort((a, b) => gaps[a] - gaps[b]);
  let seen = 0;
  const at = order.find((i) => {
    seen += counts[i];
    return 2 * seen >= rows;
  });
  return gaps[at as number];
}

/** Evenly from 0 to 1. */
function mixed(hash: number, time: number, column: number): number {
  let word = hash ^ Math.imul(time + 1, 0x9e3779b9) ^ Math.imul(column + 1, 0x85ebca6b);
  word = Math.imul(word ^ (word >>> 16), 0x7feb352d);
  word = Math.imul(word ^ (word >>> 15), 0x846ca68b);
  return ((word ^ (word >>> 16)) >>> 0) / 2 ** 32;
}
