// The files of a fit in a folder: labelled rows as their inputs are, the report and the model.

import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { ClusterVerdict } from "@fedkm/core";
import { type DialectOptions, type LabelFormat, labelFile, nameOfLabelled } from "@fedkm/files";
import type { FitOutcome } from "../fit/fitTables.ts";
import { deviceNames } from "../input/assignDevices.ts";
import { readRowOrigins } from "../input/readTables.ts";
import { MODEL_FORMAT } from "../model/model.ts";
import { labelsInOrder } from "../model/rowColumns.ts";
import { reportWorkProgress, type WorkContext } from "../work.ts";
import type { ReportParts } from "./page.ts";

/** What the files hold, and how rows are written. */
export interface ResultOptions extends DialectOptions {
  /** "none": no labelled files. */
  readonly labelsAs?: LabelFormat | "none";
  /** Whether labelled files say how near a row is to centroids. */
  readonly distances?: boolean;
}

/** Writes a file, whose name has folders in it, as text or by work that writes it in pieces. */
type PutFile = (
  name: string,
  content: string | ((write: (piece: Uint8Array) => Promise<void>) => Promise<void>),
) => Promise<void>;

const FOLDER = "labels";
/** Rows between two words about them. */
const ROWS_A_WORD = 50_000;

/** What was written of a fit. */
interface FitFiles {
  readonly names: readonly string[];
  /** What could not be carried over into labelled files, a sentence each. */
  readonly leftOut: readonly string[];
  /** How sure the clusters are, in a word and in a sentence. */
  readonly verdict: ClusterVerdict["word"] | undefined;
  readonly sure: string | undefined;
}

/** Puts all files of a fit. Returns their names, what could not be carried over, and how sure the clusters are. */
export async function putFitFiles(
  outcome: FitOutcome,
  { labelsAs, ...options }: ResultOptions,
  put: PutFile,
  { network, ...context }: WorkContext & Pick<ReportParts, "network">,
): Promise<FitFiles> {
  const [{ reportPage }, { reportStabilitySentence }, { blankDocument }] = await Promise.all([
    import("./page.ts"),
    import("./stabilityTable.ts"),
    import("@fedkm/pictures/node"),
  ]);
  const labelling = { ...options, ...(labelsAs !== undefined && labelsAs !== "none" && { as: labelsAs }) };
  const files = labelsAs === "none" ? [] : outcome.input.files.filter(({ input }) => input !== undefined);
  const paths = files.map(({ file }) => file);
  const names = labelNames(paths, await Promise.all(paths.map((file) => nameOfLabelled(file, labelling))));
  const leftOut: string[] = [];
  const labels: LabelsFile[] = [];
  const all = files.reduce((sum, { rows }) => sum + rows, 0);
  const labelsOfFile = labelsInOrder(outcome, options.distances === true);
  let done = 0;
  for (const [i, own] of files.entries()) {
    const { labelOf, further } = labelsOfFile(own);
    const watched = (row: number) => {
      if (row % ROWS_A_WORD === 0)
        reportWorkProgress(context, { step: "label", name: own.file, share: (done + row) / all });
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
  reportWorkProgress(context, { step: "report" });
  const labelled = { labels: files.length > 0, network, origins: await readRowOrigins(outcome.input) };
  const stability = await outcome.stability();
  const parts = { document: blankDocument(), stability, ...labelled };
  await put("report.html", reportPage(outcome, parts));
  await put("model.json", `${JSON.stringify({ ...outcome.model, labels }, undefined, 1)}\n`);
  return {
    names: ["model.json", "report.html", ...names.map((name) => join(FOLDER, name))],
    leftOut,
    verdict: stability.verdict?.word,
    sure: reportStabilitySentence(outcome.model, stability),
  };
}

interface LabelsFile {
  readonly file: string;
  readonly bytes: number;
}

/** What the model in the folder says of its labelled files; none if there is no such model. */
export function labelsOfFolder(folder: string): LabelsFile[] {
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
export function removeLabels(out: string, earlier: readonly LabelsFile[], written: readonly string[]): void {
  const folder = join(out, FOLDER);
  for (const { file, bytes } of earlier) {
    const path = join(folder, file);
    if (!written.includes(join(FOLDER, file)) && existsSync(path) && statSync(path).size === bytes) rmSync(path);
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
