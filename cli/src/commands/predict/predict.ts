// fedkm predict: the rows of files labelled by a model, in the form of the files.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type LabelFormat, labelFile, nameOfLabelled } from "@fedkm/files";
import { type LabelledTable, type PredictRequest, predictTables, rowColumns } from "@fedkm/tables";
import { predictSource, readModel } from "@fedkm/tables/node";
import { counted, countLabel } from "@fedkm/tables/numbers";
import type { Console } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { inputFilesOfCommand } from "../../input/reading.ts";
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
  const { out, labelsAs, distances, json = false } = options;
  if (out === undefined) throw new UsageError("labels of a source need --out TABLE, the new table for them");
  const forFiles = Object.entries({ "--labels-as": labelsAs, "--distances": distances }).find(
    ([, given]) => given !== undefined,
  );
  if (forFiles !== undefined) {
    throw new UsageError(`${forFiles[0]} is for files: the clusters of a source go to a table beside its rows`);
  }
  const labelled = await predictSource({ ...options, model: readModel(options.model), address, out, env: io.env });
  if (json) io.stdout.write(`${JSON.stringify({ source: address, model: options.model, ...labelled, into: out })}\n`);
  else io.stdout.write(`${countLabel(labelled.rows)} rows labelled: table ${out}\n`);
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
