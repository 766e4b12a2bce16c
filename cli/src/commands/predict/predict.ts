// fedkm predict: the rows of a file labelled by a model, in the form of the file.

import { takeRows } from "@fedkm/core";
import {
  applyScaling,
  checkMissing,
  checkUnseen,
  completeRows,
  DataError,
  type DialectOptions,
  encodeTable,
  fillMissing,
  labelFile,
  readTable,
  type Table,
} from "@fedkm/files";
import type { Console } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { plainName } from "../../input/names.ts";
import { encodingOfModel, labelScaled, type Model, selectionOfModel } from "../../model/model.ts";
import { readModel } from "../../model/read.ts";
import { count } from "../../numbers.ts";
import { writeWhole } from "../../write.ts";

export interface PredictOptions extends DialectOptions {
  readonly model: string;
  readonly device?: string;
  readonly deviceColumn?: string;
  readonly out?: string;
  readonly json?: boolean;
}

export async function predictFile(file: string, options: PredictOptions, io: Console): Promise<void> {
  const model = readModel(options.model);
  const { out, json, deviceColumn } = options;
  if (deviceColumn !== undefined && options.device !== undefined) {
    throw new UsageError(
      "--device-column cannot be used with --device: a column or a name says whose centroids to use",
    );
  }
  if (out === undefined && !json && isBinary(file)) {
    throw new UsageError(`--out must name a file for labels of ${file}, which is not text, got nothing`);
  }
  const table = await readRows(file, model, options);
  const labels = labelTable(table, model, devicesOf(table, model, options));
  const labelOf = (row: number) => (labels[row] < 0 ? undefined : labels[row]);
  if (out !== undefined) await writeWhole(out, async (write) => void (await labelFile(file, labelOf, write, options)));
  if (json) {
    const listed = Array.from(labels, (label) => (label < 0 ? null : label));
    io.stdout.write(
      `${JSON.stringify({ file, model: options.model, rows: labels.length, labels: listed, ...(out && { out }) })}\n`,
    );
  } else if (out === undefined) {
    await labelFile(file, labelOf, async (piece) => void io.stdout.write(Buffer.from(piece).toString()), options);
  } else io.stdout.write(`${count(labels.length)} rows labelled: ${out}\n`);
}

/** With the columns that are clustered. What the model cannot place counts as missing. */
async function readRows(file: string, model: Model, options: PredictOptions): Promise<Table> {
  const { policy } = model.missing;
  // The model's columns are numbers: a date can only mean its days.
  const table = await readTable(file, { dates: "days", ...options, ...selectionOfModel(model) });
  checkMissing(table, policy);
  const encoding = encodingOfModel(model);
  checkUnseen(table, encoding, policy);
  const encoded = encodeTable(table, encoding);
  return withinLogarithms(encoded, model);
}

/** A value without a logarithm is missing too. */
function withinLogarithms(table: Table, { scaling, missing: { policy } }: Model): Table {
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

function isBinary(file: string): boolean {
  return /\.(parquet|pq|gz)$/i.test(file);
}

/** For each row the number of the model's device that labels it. */
function devicesOf(table: Table, model: Model, { device, deviceColumn }: PredictOptions): (row: number) => number {
  const names = model.devices.map(({ name }) => name);
  const find = (name: string, source: string) => {
    const number = names.indexOf(name);
    if (number < 0) {
      const known =
        names.length > 12 ? `${names.slice(0, 12).join(", ")} and ${names.length - 12} more` : names.join(", ");
      throw new UsageError(`${source} must be a device of the model (${known}), got "${name}"`);
    }
    return number;
  };
  if (deviceColumn !== undefined && table.devices !== undefined) {
    const { of } = table.devices;
    const numbers = table.devices.names.map((name) => find(name, `column "${deviceColumn}"`));
    return (row) => numbers[of[row]];
  }
  // A network of one has no choice.
  const name = device ?? (names.length === 1 ? names[0] : plainName(table.file));
  const number = find(name, device === undefined ? "--device (the name of the file if not given)" : "--device");
  return () => number;
}

/** -1 for rows with missing cells that the model's policy drops. */
function labelTable(table: Table, model: Model, deviceOf: (row: number) => number): Int32Array {
  const { points } = table;
  const complete = model.missing.policy === "drop" ? completeRows(table) : undefined;
  if (model.missing.fill !== undefined) fillMissing(points, model.missing.fill);
  applyScaling(points, model.scaling);
  const labels = new Int32Array(points.rows).fill(-1);
  const rowsOf = new Map<number, number[]>();
  for (let row = 0; row < points.rows; row++) {
    if (complete?.[row] === 0) continue;
    const device = deviceOf(row);
    const rows = rowsOf.get(device) ?? [];
    rowsOf.set(device, rows);
    rows.push(row);
  }
  for (const [device, rows] of rowsOf) {
    const own = labelScaled(
      model.devices[device],
      model.scaling,
      rows.length === points.rows ? points : takeRows(points, rows),
    );
    rows.forEach((row, i) => {
      labels[row] = own[i];
    });
  }
  return labels;
}
