// Rows of files or tables by a model: put on its scale, and labelled by the nearest centroid of their device or of all.

import { type Matrix, predict, takeRows } from "@fedkm/core";
import {
  applyScaling,
  checkMissingCells,
  checkUnseenCategories,
  completeTableRows,
  DataError,
  type DialectOptions,
  encodeTable,
  fillMissing,
  type MissingPolicy,
  type Remedy,
  readLayout,
  readTable,
  type Table,
} from "@fedkm/files";
import { deviceNameOfFile, folderDevice } from "../input/assignDevices.ts";
import { type DeviceTable, type FileInput, inputFileName, tableAtHand } from "../input/readTables.ts";
import { modelCentroids, modelDeviceOfRow, modelDeviceOrName } from "../model/labelling.ts";
import { encodingOfModel, type Model, selectionOfModel } from "../model/model.ts";
import { type LabelledRow, labelNearness } from "../model/rowColumns.ts";
import { RequestError } from "../request.ts";
import { computeWork, reportWorkProgress, type WorkContext } from "../work.ts";

/** Which rows are labelled by which model. */
export interface PredictRequest extends DialectOptions {
  readonly model: Model;
  readonly tables?: readonly DeviceTable[];
  readonly files?: readonly FileInput[];
  /** Whose centroids label: a device of the model, or "common". Default: the device named as the file or table. */
  readonly device?: string;
  /** The column that names each row's device; with the device "common" new names are taken. */
  readonly deviceColumn?: string;
  /** Default: as the model was fitted. */
  readonly missing?: MissingPolicy;
}

/** The labels of a table's rows. */
export interface LabelledTable {
  readonly name: string;
  /** -1 for rows that have none. */
  readonly labels: Int32Array;
  /** Numbers of rows, from 1, that are far from every centroid. */
  readonly far: readonly number[];
  rowOf(row: number): LabelledRow | undefined;
  /** How a file was read: as asked, and for the rest as the files of the model. */
  readonly reading: DialectOptions;
}

/** One for each table and file, in this order. */
export async function predictTables(request: PredictRequest, context: WorkContext = {}): Promise<LabelledTable[]> {
  const { model, tables = [], files = [] } = request;
  const policy = predictPolicy(request);
  const labelled: LabelledTable[] = [];
  for (const own of tables) {
    const table = tableAtHand(own, { columns: selectionOfModel(model).columns }, policy);
    labelled.push({ ...(await labelTable(onModel(table, model, policy), own.name, request, context)), reading: {} });
  }
  for (const file of files) {
    const own = await readingOfFile(file, request);
    const table = onModel(await readRows(file, own, policy, context), model, policy);
    const { model: _, tables: __, files: ___, device: ____, missing: _____, deviceColumn: ______, ...reading } = own;
    const path = inputFileName(file);
    const name = (model.devices.length > 1 && folderDevice(path)) || deviceNameOfFile(path);
    labelled.push({ ...(await labelTable(table, name, own, context)), reading });
  }
  return labelled;
}

async function labelTable(
  table: Table,
  name: string,
  request: PredictRequest,
  context: WorkContext,
): Promise<Omit<LabelledTable, "reading">> {
  const { model } = request;
  const policy = predictPolicy(request);
  const centroidsOf = centroidsOfRows(table, name, request);
  const complete = policy === "mean" ? undefined : completeTableRows(table);
  const { points } = table;
  if (policy === "mean" && model.missing.fill !== undefined) fillMissing(points, model.missing.fill);
  applyScaling(points, model.scaling);
  const labels = await computeWork(context, () => labelPoints(points, complete, centroidsOf));
  const rowOf = (row: number): LabelledRow | undefined => {
    const centroids = centroidsOf(row);
    return labels[row] < 0 || centroids === undefined ? undefined : { points, row, centroids, label: labels[row] };
  };
  const far = Array.from(labels.keys()).filter((row) => {
    const own = rowOf(row);
    return own !== undefined && labelNearness(own, model.clusters).isFar;
  });
  return { name: table.file, labels, far: far.map((row) => row + 1), rowOf };
}

/** What becomes of missing cells: as asked, or as the model was fitted. */
export function predictPolicy({
  model: { missing },
  missing: asked,
}: Pick<PredictRequest, "model" | "missing">): MissingPolicy {
  if (asked === "mean" && missing.fill === undefined) {
    throw new RequestError(
      "--missing mean must be used with a model that was fitted with it, got one without means to fill",
    );
  }
  return asked ?? missing.policy;
}

/** With what the model remembers, where nothing was asked and the file is like those that it was fitted to. */
async function readingOfFile(file: FileInput, request: PredictRequest): Promise<PredictRequest> {
  const { encoding, deviceColumn, ...remembered } = request.model.reading ?? {};
  const asked = { ...remembered, ...request };
  const layoutWith = (own: PredictRequest) => readLayout(file, { ...own, dates: own.dates ?? "days" });
  // A text may be in UTF-8 this time.
  const needsEncoding =
    encoding !== undefined &&
    asked.encoding === undefined &&
    (await layoutWith(asked).then(
      () => false,
      (error) => error instanceof DataError && error.remedies.some(({ kind }) => kind === "encoding"),
    ));
  const own = needsEncoding ? { ...asked, encoding } : asked;
  if (deviceColumn === undefined || own.deviceColumn !== undefined || own.device !== undefined) return own;
  const { columns } = await layoutWith(own);
  return columns.some(({ name }) => name === deviceColumn) ? { ...own, deviceColumn } : own;
}

async function readRows(
  file: FileInput,
  { model, tables: _, files: __, ...options }: PredictRequest,
  policy: MissingPolicy,
  context: WorkContext,
): Promise<Table> {
  const name = inputFileName(file);
  // The model's columns are numbers: a date can only mean its days.
  try {
    const table = await readTable(file, {
      dates: "days",
      ...options,
      ...selectionOfModel(model),
      allowsNameless: policy === "drop",
      onRead: (bytes) => reportWorkProgress(context, { step: "read", name, bytes }),
    });
    checkMissingCells(table, policy);
    return table;
  } catch (error) {
    throw error instanceof DataError ? withoutChoice(error) : error;
  }
}

/** The columns are those of the model: nobody can choose others. */
function withoutChoice(error: DataError): DataError {
  const isChoice = (own: Remedy): boolean =>
    ["leave-out-columns", "choose-columns", "take-categories", "both"].includes(own.kind) ||
    (own.kind === "name-column" && own.option !== "deviceColumn");
  const remedies = error.remedies.filter((own) => !isChoice(own));
  if (remedies.length === error.remedies.length) return error;
  const { position, rule, got } = error;
  const fit = { kind: "text", text: "fit a model to columns that the file has" } as const;
  return new DataError(position, rule, got, [...remedies, fit], { cause: error });
}

/** With the columns that are clustered. A value that the model does not know counts as missing. */
function onModel(table: Table, model: Model, policy: MissingPolicy): Table {
  const encoding = encodingOfModel(model);
  checkUnseenCategories(table, encoding, policy);
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
        throw new DataError(
          { file: table.file, column: table.columns[c] },
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

/** For each row the centroids that label it, on the scale of the model; undefined for a row without a device. */
function centroidsOfRows(
  table: Table,
  name: string,
  { model, device, deviceColumn }: PredictRequest,
): (row: number) => Matrix | undefined {
  const known = new Map<number, Matrix>();
  const knownAt = (number: number): Matrix => {
    const own = known.get(number) ?? modelCentroids(model, number);
    known.set(number, own);
    return own;
  };
  if (deviceColumn !== undefined && table.devices !== undefined) {
    const { of } = table.devices;
    const numbers = table.devices.names.map((own) => modelDeviceOfRow(model, own, deviceColumn, device));
    return (row) => (of[row] in numbers ? knownAt(numbers[of[row]]) : undefined);
  }
  const ownAt = (called: string) => knownAt(modelDeviceOrName(model, device, called, "the file"));
  if (table.parts === undefined) {
    const own = ownAt(name);
    return () => own;
  }
  const parts = table.parts.map(({ file, rows }) => ({
    rows,
    own: ownAt(folderDevice(file) ?? deviceNameOfFile(file)),
  }));
  const of = parts.flatMap(({ rows, own }) => new Array<Matrix>(rows).fill(own));
  return (row) => of[row];
}

function labelPoints(
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
