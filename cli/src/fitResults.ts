// The results of fedkm fit: the files of its folder, and the summary of --json.

import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { type DialectOptions, type LabelFormat, labelFile, nameOfLabelled } from "@fedkm/files";
import { blankDocument } from "@fedkm/pictures/node";
import { deviceNames, type FitOutcome, labelsInOrder, MODEL_FORMAT, readRowOrigins } from "@fedkm/tables";
import type { ReportParts } from "@fedkm/tables/report";
import { type ProgressLine, progressPercent } from "./progress.ts";
import { throwIfStopped } from "./stop.ts";
import { writeResultFolder } from "./write.ts";

export interface ResultsFlags extends DialectOptions {
  readonly out: string;
  /** False: no labelled files. */
  readonly labelsAs?: LabelFormat | "none";
  /** Whether labelled files say how near a row is to centroids. */
  readonly distances?: boolean;
}

const FOLDER = "labels";

/** All results at once, or none. Returns where they are, and what could not be carried over. */
export async function writeFitCommandResults(
  outcome: FitOutcome,
  flags: ResultsFlags,
  { progress, signal, network }: { progress: ProgressLine; signal: AbortSignal } & Pick<ReportParts, "network">,
) {
  const { reportPage } = await import("@fedkm/tables/report");
  const { labelsAs, ...dialect } = flags;
  const as = labelsAs === "none" ? undefined : labelsAs;
  const labelling = { ...dialect, ...(as && { as }) };
  const files = labelsAs === "none" ? [] : outcome.input.files.filter(({ input }) => input !== undefined);
  const paths = files.map(({ file }) => file);
  const names = labelNames(paths, await Promise.all(paths.map((file) => nameOfLabelled(file, labelling))));
  const earlier = labelsOf(flags.out);
  const leftOut: string[] = [];
  const labels: { file: string; bytes: number }[] = [];
  const all = files.reduce((sum, { rows }) => sum + rows, 0);
  const labelsOfFile = labelsInOrder(outcome, flags.distances === true);
  const began = performance.now();
  let done = 0;
  await throwIfStopped(signal);
  await writeResultFolder(flags.out, async (put) => {
    for (const [i, own] of files.entries()) {
      const { labelOf, further } = labelsOfFile(own);
      const watched = (row: number) => {
        if (row % ROWS_A_WORD === 0)
          progress.show(`fedkm  labels ${progressPercent((done + row) / all, performance.now() - began)}  ${own.file}`);
        return labelOf(row);
      };
      let bytes = 0;
      await put(join(FOLDER, names[i]), async (write) => {
        const counting = (piece: Uint8Array) => {
          bytes += piece.length;
          return write(piece);
        };
        const missed = await labelFile(own.file, watched, counting, { ...labelling, further });
        if (missed.length > 0)
          leftOut.push(`the labelled ${names[i]} lacks ${missed.join(", ")}, which cannot be written so`);
      });
      labels.push({ file: names[i], bytes });
      done += own.rows;
    }
    progress.announce("fedkm  writing the report");
    const labelled = { labels: files.length > 0, network, origins: await readRowOrigins(outcome.input) };
    const parts = { document: blankDocument(), stability: await outcome.stability(), ...labelled };
    await put("report.html", reportPage(outcome, parts));
    await put("model.json", `${JSON.stringify({ ...outcome.model, labels }, undefined, 1)}\n`);
  });
  removeLabels(flags.out, earlier, names);
  const written = ["model.json", "report.html", ...names.map((name) => join(FOLDER, name))];
  return { paths: written.map((path) => join(flags.out, path)), leftOut };
}

/** Rows between two words about them. */
const ROWS_A_WORD = 50_000;

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

export function summary(
  outcome: FitOutcome,
  warnings: readonly string[],
  paths: readonly string[],
  milliseconds: object,
) {
  const { columns, clusters, objective, rounds, converged, messages, bytes, options, guarded, certificate } =
    outcome.model;
  const devices = outcome.model.devices.map(({ name, rows, sizes }) => ({ name, rows, sizes }));
  const answer = { options, devices, columns, clusters, numbersAgree: outcome.numbersAgree };
  const run = { objective, rounds, converged, messages, bytes, guarded, certificate };
  const candidates = outcome.chosen?.clusters.candidates;
  return { ...answer, candidates, ...run, warnings, files: paths, milliseconds };
}
