// The rows of a file on the scale of a model, and the nearest centroid of each.

import { type Matrix, predict, takeRows } from "@fedkm/core";
import {
  applyScaling,
  checkMissing,
  checkUnseen,
  completeRows,
  DataError,
  type DialectOptions,
  encodeTable,
  fillMissing,
  type MissingPolicy,
  type ReadOptions,
  readTable,
  type Table,
} from "@fedkm/files";
import { UsageError } from "../../../cli/src/failure.ts";
import { interruptible } from "../../../cli/src/stop.ts";
import { plainName } from "../input/assignDevices.ts";
import { COMMON, centroidsAt, deviceNamed, placeOrName } from "../model/labelling.ts";
import { encodingOfModel, type Model, selectionOfModel } from "../model/model.ts";
import { type LabelledRow, nearnessOf } from "../model/rowColumns.ts";

export interface LabelOptions {
  readonly device?: string;
  readonly place?: string;
  readonly deviceColumn?: string;
  /** Default: as the model was fitted. */
  readonly missing?: MissingPolicy;
}

export interface LabelledFile {
  /** -1 for rows that have none. */
  readonly labels: Int32Array;
  /** Numbers of rows, from 1, that are far from every centroid. */
  readonly far: readonly number[];
  rowOf(row: number): LabelledRow | undefined;
}

export async function labelRows(
  file: string,
  model: Model,
  options: DialectOptions & LabelOptions,
  signal: AbortSignal,
): Promise<LabelledFile> {
  const policy = policyOf(model, options);
  const table = await readRows(file, model, policy, { ...options, onRead: () => signal.throwIfAborted() });
  const centroidsOf = centroidsOfRows(table, plainName(file), model, options);
  const complete = policy === "mean" ? undefined : completeRows(table);
  const { points } = table;
  if (policy === "mean" && model.missing.fill !== undefined) fillMissing(points, model.missing.fill);
  applyScaling(points, model.scaling);
  const labels = await interruptible(() => labelTable(points, complete, centroidsOf), signal);
  const rowOf = (row: number): LabelledRow | undefined => {
    const centroids = centroidsOf(row);
    return labels[row] < 0 || centroids === undefined ? undefined : { points, row, centroids, label: labels[row] };
  };
  const far = Array.from(labels.keys()).filter((row) => {
    const own = rowOf(row);
    return own !== undefined && nearnessOf(own, model.clusters).isFar;
  });
  return { labels, far: far.map((row) => row + 1), rowOf };
}

function policyOf({ missing }: Model, { missing: asked }: LabelOptions): MissingPolicy {
  if (asked === "mean" && missing.fill === undefined) {
    throw new UsageError(
      "--missing mean must be used with a model that was fitted with it, got one without means to fill",
    );
  }
  return asked ?? missing.policy;
}

/** With the columns that are clustered. What the model cannot place counts as missing. */
async function readRows(
  file: string,
  model: Model,
  policy: MissingPolicy,
  options: DialectOptions & LabelOptions & Pick<ReadOptions, "onRead">,
): Promise<Table> {
  // The model's columns are numbers: a date can only mean its days.
  const table = await readTable(file, {
    dates: "days",
    ...options,
    ...selectionOfModel(model),
    allowsNameless: policy === "drop",
  });
  checkMissing(table, policy);
  const encoding = encodingOfModel(model);
  checkUnseen(table, encoding, policy);
  return withinLogarithms(encodeTable(table, encoding), model, policy);
}

/** A value without a logarithm is missing too. */
function withinLogarithms(table: Table, { scaling }: Model, policy: MissingPolicy): Table {
  const { data, rows, cols } = table.points;
  const missing = table.missing.map((own, c) => {
    if (scaling.transforms?.[c]?.kind !== "log") return own;
    let count = 0;
    for (let r = 0, at = c; r < rows; r++, at += cols) {
      if (!(data[at] <= 0)) continue;
      if (policy === "refuse") {
        const place = { file: table.file, column: table.columns[c] };
        throw new DataError(
          place,
          "be above 0, for its logarithm",
          `${data[at]} in row ${r + 1}`,
          "fix the cell, or leave the row out",
        );
      }
      data[at] = Number.NaN;
      count++;
    }
    return { ...own, count: own.count + count };
  });
  return { ...table, missing };
}

/** For each row the centroids that label it, on the scale of the model; undefined for a row without a place. */
function centroidsOfRows(
  table: Table,
  name: string,
  model: Model,
  options: LabelOptions,
): (row: number) => Matrix | undefined {
  const { device, place = device, deviceColumn } = options;
  const known = new Map<number, Matrix>();
  const knownAt = (number: number): Matrix => {
    const own = known.get(number) ?? centroidsAt(model, number);
    known.set(number, own);
    return own;
  };
  if (deviceColumn !== undefined && table.devices !== undefined) {
    const { of } = table.devices;
    const isNew = (own: string) => place === COMMON && model.devices.every((device) => device.name !== own);
    const numbers = table.devices.names.map((own) =>
      isNew(own) ? -1 : deviceNamed(model, own, `column "${deviceColumn}"`),
    );
    return (row) => (of[row] in numbers ? knownAt(numbers[of[row]]) : undefined);
  }
  const own = centroidsAt(model, placeOrName(model, place, name, "the file"));
  return () => own;
}

function labelTable(
  points: Matrix,
  complete: Uint8Array | undefined,
  centroidsOf: (row: number) => Matrix | undefined,
): Int32Array {
  const labels = new Int32Array(points.rows).fill(-1);
  const rowsOf = new Map<Matrix, number[]>();
  for (let row = 0; row < points.rows; row++) {
    if (complete?.[row] === 0) continue;
    const centroids = centroidsOf(row);
    if (centroids === undefined) continue;
    const rows = rowsOf.get(centroids) ?? [];
    rowsOf.set(centroids, rows);
    rows.push(row);
  }
  for (const [centroids, rows] of rowsOf) {
    const own = predict(centroids, rows.length === points.rows ? points : takeRows(points, rows));
    rows.forEach((row, i) => {
      labels[row] = own[i];
    });
  }
  return labels;
}
