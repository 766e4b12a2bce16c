// What the study of heterogeneity found: own cost by method and split, and in words where personalisation pays.

import { splitNames } from "../split.ts";
import type { TableRow } from "../table.ts";

/** Of one kind of data and one start: a line for each method, a ratio for each split. */
interface PersonalisationTable {
  readonly title: string;
  readonly heading: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface Personalisation {
  readonly tables: readonly PersonalisationTable[];
  /** A sentence for each start. */
  readonly sentences: readonly string[];
}

/** From aggregated rows; undefined where the study is not among them. */
export function personalisationOf(aggregated: readonly TableRow[]): Personalisation | undefined {
  const cells = aggregated.filter(({ study }) => study === "heterogeneity");
  if (cells.length === 0) return undefined;
  const starts = distinct(cells.map(({ start }) => start)).filter((start) => start !== null);
  const kinds = distinct(cells.map(({ dataset }) => String(dataset).split(" ")[0]));
  const of = (start: unknown) => cells.filter((row) => row.start === start || row.start === null);
  return {
    tables: starts.flatMap((start) =>
      kinds.map((kind) => ({
        title: `${start} start, ${kind}`,
        heading: ["method", ...splitNames],
        rows: distinct(of(start).map(nameOf)).map((name) => [
          name,
          ...splitNames.map((split) => {
            const row = of(start).find((cell) => cell.dataset === `${kind} ${split}` && nameOf(cell) === name);
            return row === undefined ? "" : Number(row.own_cost_ratio_mean).toFixed(3);
          }),
        ]),
      })),
    ),
    sentences: starts.map((start) => sentence(String(start), of(start))),
  };
}

/** Cells in which a device's own answer is cheaper than the pooled one, the upper end of the 95 % interval included. */
function sentence(start: string, cells: readonly TableRow[]): string {
  const upper = (row: TableRow) => Number(row.own_cost_ratio_mean) + Number(row.own_cost_ratio_interval);
  const paying = cells.filter((row) => (row.method === "fedkm" || row.method === "local") && upper(row) < 1);
  const found = distinct(paying.map(({ dataset }) => dataset)).map((dataset) => {
    const own = paying
      .filter((row) => row.dataset === dataset)
      .sort((a, b) => Number(a.own_cost_ratio_mean) - Number(b.own_cost_ratio_mean));
    return `${dataset} (${nameOf(own[0])}: ${Number(own[0].own_cost_ratio_mean).toFixed(2)})`;
  });
  if (found.length === 0) return `From the ${start} start personalisation pays nowhere in this study.`;
  return `From the ${start} start personalisation pays, the 95 % interval below 1, for ${found.join(", ")}.`;
}

function nameOf({ method, alpha }: TableRow): string {
  return alpha === null ? String(method) : `${method}, alpha ${alpha}`;
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
