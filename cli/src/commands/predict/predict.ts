// fedkm predict: the rows of files labelled by a model, in the form of the files.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type LabelFormat, labelFile, nameOfLabelled } from "@fedkm/files";
import {
  encodingOfModel,
  type LabelledTable,
  modelCentroids,
  modelDeviceOfRow,
  modelDeviceOrName,
  type PredictRequest,
  predictTables,
  rowColumns,
} from "@fedkm/tables";
import { readModel } from "@fedkm/tables/node";
import type { Console } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { inputFilesOfCommand } from "../../input/reading.ts";
import { counted, countLabel } from "../../numbers.ts";
import { interruptible, stoppableUnchanged } from "../../stop.ts";
import { writeResultFile } from "../../write.ts";

export interface PredictFlags extends Omit<PredictRequest, "model" | "tables" | "files"> {
  readonly model: string;
  readonly out?: string;
  readonly labelsAs?: LabelFormat;
  readonly distances?: boolean;
  readonly json?: boolean;
}

/** Labels of a source are written where the rows are, and only when a table for them is named. */
export async function runPredictSourceCommand(address: string, options: PredictFlags, io: Console): Promise<void> {
  const { out, labelsAs, distances, missing, device, json = false } = options;
  if (out === undefined) throw new UsageError("labels of a source need --out TABLE, the new table for them");
  const forFiles = Object.entries({ "--labels-as": labelsAs, "--distances": distances }).find(
    ([, given]) => given !== undefined,
  );
  if (forFiles !== undefined) {
    throw new UsageError(`${forFiles[0]} is for files: the clusters of a source go to a table beside its rows`);
  }
  const model = readModel(options.model);
  if (model.scaling.transforms !== undefined) {
    throw new UsageError(
      "a model with ranks or logarithms cannot label a source: fedkm export writes the SELECT that does",
    );
  }
  const { openSource, wordsOfSqlSource } = await import("@fedkm/sql");
  const policy = missing ?? model.missing.policy;
  const fill = policy === "mean" ? model.missing.fill : undefined;
  if (policy === "mean" && fill === undefined) {
    throw new UsageError(
      "--missing mean must be used with a model that was fitted with it, got one without means to fill",
    );
  }
  const encoding = encodingOfModel(model);
  const deviceColumn = options.deviceColumn ?? (device === undefined ? model.reading?.deviceColumn : undefined);
  const reading = { encoding, ...(fill && { fill }), missing: "drop", read: "aggregate", env: io.env } as const;
  const names =
    deviceColumn === undefined
      ? undefined
      : (await wordsOfSqlSource(address, { env: io.env }, { columns: [], deviceColumn })).devices;
  const source = await openSource(address, reading);
  try {
    const devices = names?.flatMap((name) =>
      name === null || deviceColumn === undefined ? [] : [{ column: deviceColumn, name }],
    );
    const parts = (devices ?? [undefined]).map((own) => {
      const number =
        own === undefined
          ? modelDeviceOrName(model, device, source.name, "the source")
          : modelDeviceOfRow(model, own.name, deviceColumn ?? "", device);
      return { centroids: modelCentroids(model, number), ...(own && { device: own }) };
    });
    await source.labelInto(out, parts, model.scaling);
    const { rows, dropped } = source;
    if (json)
      io.stdout.write(`${JSON.stringify({ source: address, model: options.model, rows, dropped, into: out })}\n`);
    else io.stdout.write(`${countLabel(rows)} rows labelled: table ${out}\n`);
  } finally {
    await source.close();
  }
}

type WrittenTable = LabelledTable & { readonly file: string; readonly out?: string };

export async function runPredictCommand(
  patterns: readonly string[],
  options: PredictFlags,
  io: Console,
): Promise<void> {
  const model = readModel(options.model);
  const { out, json, labelsAs: as } = options;
  const files = await inputFilesOfCommand(patterns);
  checkOptions(files, options);
  const labelled: WrittenTable[] = [];
  const label = async (file: string, signal: AbortSignal) => {
    const context = { signal, compute: <T>(work: () => T | Promise<T>) => interruptible(work, signal) };
    const [own] = await predictTables({ ...options, model, files: [file] }, context);
    const further = rowColumns(model, own.rowOf, options.distances === true);
    const labelOf = (row: number) => (own.labels[row] < 0 ? undefined : own.labels[row]);
    const write = (put: (piece: Uint8Array) => Promise<void>) =>
      labelFile(file, labelOf, put, { ...own.reading, further, ...(as && { as }) });
    const path =
      out === undefined
        ? undefined
        : files.length === 1
          ? out
          : join(out, await nameOfLabelled(file, { ...own.reading, ...(as && { as }) }));
    if (path !== undefined) await writeResultFile(path, async (put) => void (await write(put)));
    else if (!json) await write(async (piece) => void io.stdout.write(Buffer.from(piece).toString()));
    labelled.push({ ...own, file, ...(path !== undefined && { out: path }) });
  };
  await stoppableUnchanged(
    async (signal) => {
      for (const file of files) await label(file, signal);
    },
    () =>
      labelled.length === 0 ? "nothing was changed" : `the labels of ${counted(labelled.length, "file")} are whole`,
  );
  if (json) io.stdout.write(`${JSON.stringify(summary(labelled, options.model))}\n`);
  else if (out !== undefined) io.stdout.write(labelled.map(sentence).join(""));
}

function checkOptions(files: readonly string[], { out, json, labelsAs, device, deviceColumn }: PredictFlags): void {
  if (deviceColumn !== undefined && device !== undefined && device !== "common") {
    throw new UsageError(
      "--device-column cannot be used with --device: a column or a name says whose centroids to use",
    );
  }
  const binary = files.find((file) => isBinary(file, labelsAs));
  if (out === undefined && !json && binary !== undefined) {
    throw new UsageError(`labels of ${binary} need --out FILE (they are binary)`);
  }
  if (files.length > 1 && out === undefined && !json) {
    throw new UsageError(`labels of ${files.length} files need --out FOLDER`);
  }
  if (files.length > 1 && out !== undefined) mkdirSync(out, { recursive: true });
}

function isBinary(file: string, as: LabelFormat | undefined): boolean {
  return as === undefined ? /\.(parquet|pq|gz|xlsx|xlsm)$/i.test(file) : as === "parquet" || as === "xlsx";
}

/** Of one file as it always was, of several as a list. */
function summary(labelled: readonly WrittenTable[], model: string) {
  const all = labelled.map(({ file, labels, far, out }) => ({
    file,
    model,
    rows: labels.length,
    labels: Array.from(labels, (label) => (label < 0 ? null : label)),
    far,
    ...(out && { out }),
  }));
  return all.length === 1 ? all[0] : { model, files: all };
}

function sentence({ labels, far, out }: WrittenTable): string {
  const without = labels.reduce((sum, label) => sum + (label < 0 ? 1 : 0), 0);
  const notes = [
    ...(without > 0 ? [`${counted(without, "row")} without a label`] : []),
    ...(far.length > 0
      ? [`${counted(far.length, "row")} far from every centroid, the first is row ${countLabel(far[0])}`]
      : []),
  ];
  return `${counted(labels.length, "row")} labelled: ${out}${notes.length > 0 ? ` (${notes.join("; ")})` : ""}\n`;
}
