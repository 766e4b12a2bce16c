// What labelled files say about a row besides its cluster: the cluster's name, and how near the row is to centroids.

import type { Matrix } from "@fedkm/core";
import type { AddedColumn, LabelOf } from "@fedkm/files";
import type { InputRows } from "../input/assignDevices.ts";
import type { FittedRows } from "./clusterSums.ts";
import { type Model, scaledCentroids } from "./model.ts";

/** A row by its number among those of a matrix, and the centroids that labelled it. */
export interface LabelledRow {
  readonly points: Matrix;
  readonly row: number;
  readonly centroids: Matrix;
  readonly label: number;
}

/** Rows farther from their centroid than this many times the spread of their cluster belong to none of them. */
const FAR = 3;

/** `rowOf` is asked for the row that got its label last; undefined: it has none. */
export function rowColumns(
  { clusters }: Pick<Model, "clusters">,
  rowOf: (row: number) => LabelledRow | undefined,
  distances: boolean,
): AddedColumn[] {
  const names = clusters?.map(({ name }) => name) ?? [];
  const hasNames = names.some((name) => name !== undefined);
  // Columns are asked row by row: the first one measures for the others.
  let last: { readonly own: LabelledRow; readonly near: Nearness } | undefined;
  const measured = (of: (near: Nearness) => number | undefined) => (row: number) => {
    const own = rowOf(row);
    if (own === undefined) return undefined;
    if (last === undefined || last.own.points !== own.points || last.own.row !== own.row)
      last = { own, near: labelNearness(own, clusters) };
    return of(last.near);
  };
  return [
    ...(hasNames
      ? [{ name: "cluster_name", kind: "text" as const, of: (row: number) => names[rowOf(row)?.label ?? -1] }]
      : []),
    ...(distances
      ? [
          { name: "distance", kind: "real" as const, of: measured(({ distance }) => distance) },
          { name: "margin", kind: "real" as const, of: measured(({ margin }) => margin) },
          { name: "far", kind: "whole" as const, of: measured(({ isFar }) => (isFar ? 1 : 0)) },
        ]
      : []),
  ];
}

interface Nearness {
  /** To its centroid, on the scale of the model. */
  readonly distance: number;
  /** 1 less the distance over that to the next centroid; undefined with one cluster. */
  readonly margin: number | undefined;
  readonly isFar: boolean;
}

export function labelNearness({ points, row, centroids, label }: LabelledRow, clusters: Model["clusters"]): Nearness {
  const { cols } = points;
  let [own, next] = [0, Number.POSITIVE_INFINITY];
  for (let c = 0; c < centroids.rows; c++) {
    let sum = 0;
    for (let x = 0; x < cols; x++) sum += (points.data[row * cols + x] - centroids.data[c * cols + x]) ** 2;
    if (c === label) own = sum;
    else if (sum < next) next = sum;
  }
  const distance = Math.sqrt(own);
  const spread = clusters?.[label]?.spread;
  return {
    distance,
    margin: centroids.rows === 1 ? undefined : next > 0 ? 1 - distance / Math.sqrt(next) : 0,
    isFar: spread !== undefined && spread !== null && distance > FAR * spread,
  };
}

/**
 * A function that gives for each file of a fit the labels of its rows and what else is said about them. Files are asked in
 * their order, and so are rows: those of a device follow each other in its labels.
 */
export function labelsInOrder(
  { model, datasets, labels }: Pick<FittedRows, "model" | "datasets" | "labels">,
  distances: boolean,
): (file: InputRows) => { readonly labelOf: LabelOf; readonly further: readonly AddedColumn[] } {
  const next = new Uint32Array(labels.length);
  const centroids = model.devices.map((device) => scaledCentroids(device, model.scaling));
  const rowAfter = (device: number): LabelledRow | undefined => {
    if (device < 0) return undefined;
    const row = next[device]++;
    return { points: datasets[device], row, centroids: centroids[device], label: labels[device][row] };
  };
  return ({ deviceOf }) => {
    let current: LabelledRow | undefined;
    const labelOf = (row: number) => {
      current = rowAfter(deviceOf(row));
      return current?.label;
    };
    return { labelOf, further: rowColumns(model, () => current, distances) };
  };
}
