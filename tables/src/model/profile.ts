// What a cluster is: how its rows lie in every column against all rows, the most telling columns first.

import { firstEncodedColumns, unscaled } from "@fedkm/files";
import type { ClusterSums } from "./clusterSums.ts";
import { encodingOfModel, type Model } from "./model.ts";

/** Rows in one column, or in one value of a column of categories. */
export interface Figure {
  /** In the user's units, or a share from 0 to 1. */
  readonly mean: number;
  /** A standard deviation below and above it. */
  readonly low: number;
  readonly high: number;
  /** From the mean of all rows, in standard deviations of all rows. */
  readonly difference: number;
}

interface Line {
  /** A value of a column of categories; of numbers there is only one line. */
  readonly value?: string;
  readonly all: Figure;
  /** By cluster; undefined without rows. */
  readonly clusters: readonly (Figure | undefined)[];
}

export interface Trait {
  readonly name: string;
  readonly kind: "number" | "date" | "categories";
  /** The share of the column's variance that lies between clusters, from 0 to 1. */
  readonly strength: number;
  readonly lines: readonly Line[];
}

/** The strongest first. */
export function profileTraits(
  sums: ClusterSums,
  model: Pick<Model, "columns" | "dates" | "encoding" | "scaling">,
): Trait[] {
  const moments = momentsOf(sums);
  const encoding = encodingOfModel(model);
  const first = firstEncodedColumns(encoding);
  const lineAt = (column: number) => lineOf(sums, moments, column, (scaled) => unscaled(model.scaling, column, scaled));
  const traits = encoding.map(({ name, values }, c): Trait => {
    const own = Array.from({ length: values?.length ?? 1 }, (_, v) => first[c] + v);
    const lines = own.map((column, v) => ({ ...(values && { value: values[v] }), ...lineAt(column) }));
    return {
      name,
      kind: values !== undefined ? "categories" : model.dates?.includes(name) ? "date" : "number",
      strength: strengthOf(moments, own),
      lines: values === undefined ? lines : lines.sort((a, b) => b.all.mean - a.all.mean),
    };
  });
  return traits.sort((a, b) => b.strength - a.strength);
}

interface Moments {
  /** By column, of all rows, in scaled units. */
  readonly means: Float64Array;
  readonly variances: Float64Array;
  /** The part of the variance that lies between clusters. */
  readonly between: Float64Array;
}

function momentsOf({ k, cols, totals, common, squares }: ClusterSums): Moments {
  const rows = totals.reduce((sum, count) => sum + count, 0);
  const present = Array.from(totals.keys()).filter((c) => totals[c] > 0);
  const means = new Float64Array(cols);
  for (const c of present) for (let x = 0; x < cols; x++) means[x] += (totals[c] / rows) * common[c * cols + x];
  const [variances, between] = [new Float64Array(cols), new Float64Array(cols)];
  for (const c of present) {
    for (let x = 0; x < cols; x++) {
      const apart = (totals[c] / rows) * (common[c * cols + x] - means[x]) ** 2;
      between[x] += apart;
      variances[x] += apart + squares[c * cols + x] / rows;
    }
  }
  return { means, variances, between: k === 1 ? new Float64Array(cols) : between };
}

function strengthOf({ variances, between }: Moments, columns: readonly number[]): number {
  const sum = (of: Float64Array) => columns.reduce((total, column) => total + of[column], 0);
  return sum(variances) > 0 ? sum(between) / sum(variances) : 0;
}

function lineOf(
  { cols, totals, common, squares }: ClusterSums,
  { means, variances }: Moments,
  column: number,
  inUnits: (scaled: number) => number,
): Line {
  const deviation = Math.sqrt(variances[column]);
  const figure = (mean: number, own: number): Figure => ({
    mean: inUnits(mean),
    low: inUnits(mean - own),
    high: inUnits(mean + own),
    difference: deviation > 0 ? (mean - means[column]) / deviation : 0,
  });
  return {
    all: figure(means[column], deviation),
    clusters: Array.from(totals, (rows, c) => {
      const at = c * cols + column;
      return rows === 0 ? undefined : figure(common[at], Math.sqrt(squares[at] / rows));
    }),
  };
}
