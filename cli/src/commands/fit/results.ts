// The results of fedkm fit: the files of its folder, and the summary of --json.

import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { type DialectOptions, type LabelFormat, labelFile, nameOfLabelled } from "@fedkm/files";
import type { Sureness } from "../../../../tables/src/fit/stability.ts";
import { deviceNames } from "../../../../tables/src/input/assignDevices.ts";
import type { Input } from "../../../../tables/src/input/readTables.ts";
import { MODEL_FORMAT, scaledCentroids } from "../../../../tables/src/model/model.ts";
import type { Fitted } from "../../../../tables/src/model/outcome.ts";
import { type LabelledRow, rowColumns } from "../../../../tables/src/model/rowColumns.ts";
import { percentText } from "../../progress.ts";
import { heed } from "../../stop.ts";
import { writeFolder } from "../../write.ts";
import type { Watched } from "./coreTime.ts";

export interface ResultsOptions extends DialectOptions {
  readonly out: string;
  /** False: no labelled files. */
  readonly labels?: boolean;
  readonly labelsAs?: LabelFormat;
  /** Whether labelled files say how near a row is to centroids. */
  readonly distances?: boolean;
}

const FOLDER = "labels";

/** All results at once, or none. Returns where they are, and what could not be carried over. */
export async function writeResults(
  input: Input,
  fitted: Fitted,
  surenessOf: () => Promise<Sureness>,
  options: ResultsOptions,
  { progress, signal }: Pick<Watched, "progress" | "signal">,
) {
  const { reportPage } = await import("../../../../tables/src/report/page.ts");
  const files = options.labels === false ? [] : input.files.filter(({ isSource }) => !isSource);
  const { labelsAs: as, ...dialect } = options;
  const labelling = { ...dialect, ...(as && { as }) };
  const own = await Promise.all(files.map(({ file }) => nameOfLabelled(file, labelling)));
  const names = labelNames(
    files.map(({ file }) => file),
    own,
  );
  const earlier = labelsOf(options.out);
  const leftOut: string[] = [];
  const labels: { file: string; bytes: number }[] = [];
  const all = files.reduce((sum, { rows }) => sum + rows, 0);
  const rowAfter = rowsInOrder(fitted);
  const began = performance.now();
  let done = 0;
  await heed(signal);
  await writeFolder(options.out, async (put) => {
    for (const [i, { file, rows, deviceOf }] of files.entries()) {
      let current: LabelledRow | undefined;
      const labelOf = (row: number) => {
        if (row % ROWS_A_WORD === 0)
          progress.show(`fedkm  labels ${percentText((done + row) / all, performance.now() - began)}  ${file}`);
        current = rowAfter(deviceOf(row));
        return current?.label;
      };
      const further = rowColumns(fitted.model, () => current, options.distances === true);
      let bytes = 0;
      await put(join(FOLDER, names[i]), async (write) => {
        const counting = (piece: Uint8Array) => {
          bytes += piece.length;
          return write(piece);
        };
        const missed = await labelFile(file, labelOf, counting, { ...labelling, further });
        if (missed.length > 0)
          leftOut.push(`the labelled ${names[i]} lacks ${missed.join(", ")}, which cannot be written so`);
      });
      labels.push({ file: names[i], bytes });
      done += rows;
    }
    progress.announce("fedkm  writing the report");
    const sure = await surenessOf();
    await put("report.html", reportPage(fitted, sure, files.length > 0));
    await put("model.json", `${JSON.stringify({ ...fitted.model, labels }, undefined, 1)}\n`);
  });
  removeLabels(options.out, earlier, names);
  const paths = ["model.json", "report.html", ...names.map((name) => join(FOLDER, name))];
  return { paths: paths.map((path) => join(options.out, path)), leftOut };
}

/** Rows between two words about them. */
const ROWS_A_WORD = 50_000;

/** A function that gives the next row of a device, in the order in which files are read; undefined for none. */
function rowsInOrder({ model, datasets, labels }: Fitted): (device: number) => LabelledRow | undefined {
  const next = new Uint32Array(labels.length);
  const centroids = model.devices.map((device) => scaledCentroids(device, model.scaling));
  return (device) => {
    if (device < 0) return undefined;
    const row = next[device]++;
    return { points: datasets[device], row, centroids: centroids[device], label: labels[device][row] };
  };
}

interface LabelsFile {
  readonly file: string;
  readonly bytes: number;
}

/** What the model in the folder says of its labelled files; none if there is no such model. */
function labelsOf(folder: string): LabelsFile[] {
  try {
    const { format, labels } = JSON.parse(readFileSync(join(folder, "model.json"), "utf8"));
    const isFile = (own: unknown) =>
      typeof (own as LabelsFile)?.file === "string" && basename((own as LabelsFile).file) === (own as LabelsFile).file;
    return format === MODEL_FORMAT && Array.isArray(labels) ? labels.filter(isFile) : [];
  } catch {
    return [];
  }
}

/** Those of an earlier run that nobody has changed since: beside the new results they would be taken for theirs. */
function removeLabels(out: string, earlier: readonly LabelsFile[], kept: readonly string[]): void {
  const folder = join(out, FOLDER);
  for (const { file, bytes } of earlier) {
    const path = join(folder, file);
    if (!kept.includes(file) && existsSync(path) && statSync(path).size === bytes) rmSync(path);
  }
  if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
}

/** The inputs' own names, with their folders in front where two are the same, and numbered where that is not enough. */
function labelNames(files: readonly string[], own: readonly string[]): string[] {
  if (new Set(own).size === own.length) return [...own];
  const devices = deviceNames(files);
  const taken = new Set<string>();
  return own.map((name, i) => {
    const stem = devices[i].replaceAll(/[^\p{L}\p{M}\p{N}_.-]+/gu, "-");
    const ending = /(\.\w+)(\.gz)?$/.exec(name)?.[0] ?? "";
    let free = `${stem}${ending}`;
    for (let n = 2; taken.has(free); n++) free = `${stem}-${n}${ending}`;
    taken.add(free);
    return free;
  });
}

export function summary(fitted: Fitted, warnings: readonly string[], paths: readonly string[], milliseconds: object) {
  const { columns, devices, clusters, objective, rounds, converged, messages, bytes, options, guarded, certificate } =
    fitted.model;
  const sizes = devices.map(({ name, rows, sizes: own }) => ({ name, rows, sizes: own }));
  return {
    options,
    devices: sizes,
    columns,
    clusters,
    numbersAgree: fitted.numbersAgree,
    objective,
    rounds,
    converged,
    messages,
    bytes,
    guarded,
    certificate,
    warnings,
    files: paths,
    milliseconds,
  };
}
