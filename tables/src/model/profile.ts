// What a cluster is: how its rows lie in every column against all rows, the most telling columns first.

import { firstEncodedColumns, type Scaling, unscaled } from "@fedkm/files";
import type { ClusterSums } from "./clusterSums.ts";
import { encodingOfModel, type Model } from "./model.ts";

/** Rows in one column, or in one value of a column of categories. */
export interface Figure {
  /** In the user's units, or a share from 0 to 1. */
  readonly mean: number;
  /** Of a transformed column: the mean on its scale, such as the geometric mean of logarithms, in the user's units. */
  readonly middle?: number;
  /** A standard deviation below and above it, on the scale of the column. */
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
  /** What the middle of its figures is. */
  readonly middle?: "geometric mean" | "value at the mean rank";
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
  const lineAt = (column: number) => lineOf(sums, moments, column, model.scaling);
  const traits = encoding.map(({ name, values }, c): Trait => {
    const own = Array.from({ length: values?.length ?? 1 }, (_, v) => first[c] + v);
    const lines = own.map((column, v) => ({ ...(values && { value: values[v] }), ...lineAt(column) }));
    const transform = model.scaling.transforms?.[first[c]];
    return {
      name,
      ...(transform && { middle: transform.kind === "log" ? "geometric mean" : "value at the mean rank" }),
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
  const means = weightedMeans(totals, common, cols);
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

/** By column, of all rows. */
function weightedMeans(totals: Float64Array, common: Float64Array, cols: number): Float64Array {
  const rows = totals.reduce((sum, count) => sum + count, 0);
  const means = new Float64Array(cols);
  for (const [c, own] of totals.entries()) {
    if (own > 0) for (let x = 0; x < cols; x++) means[x] += (own / rows) * common[c * cols + x];
  }
  return means;
}

function strengthOf({ variances, between }: Moments, columns: readonly number[]): number {
  const sum = (of: Float64Array) => columns.reduce((total, column) => total + of[column], 0);
  return sum(variances) > 0 ? sum(between) / sum(variances) : 0;
}

/** Smaller shares of a column's deviation are rounding. */
const ROUNDING = 1e-9;

function lineOf(sums: ClusterSums, { means, variances }: Moments, column: number, scaling: Scaling): Line {
  const { cols, totals, common, squares, arithmetic } = sums;
  const inUnits = (scaled: number) => unscaled(scaling, column, scaled);
  const deviation = Math.sqrt(variances[column]);
  const deviationIn = (at: number, rows: number) => {
    const own = Math.sqrt(squares[at] / rows);
    return own > ROUNDING * deviation ? own : 0;
  };
  const figure = (scaled: number, own: number, mean?: number): Figure => ({
    ...(mean === undefined ? { mean: inUnits(scaled) } : { mean, middle: inUnits(scaled) }),
    low: inUnits(scaled - own),
    high: inUnits(scaled + own),
    difference: deviation > 0 ? (scaled - means[column]) / deviation : 0,
  });
  const own = scaling.transforms?.[column] ? arithmetic?.common : undefined;
  return {
    all: figure(means[column], deviation, own && weightedMeans(totals, own, cols)[column]),
    clusters: Array.from(totals, (rows, c) => {
      const at = c * cols + column;
      return rows === 0 ? undefined : figure(common[at], deviationIn(at, rows), own?.[at]);
    }),
  };
}
