// The results of fedkm fit: the files of its folder, and the summary of --json.

import { join } from "node:path";
import type { FitOutcome, WorkContext } from "@fedkm/tables";
import { labelsOfFolder, putFitFiles, type ResultOptions, removeLabels } from "@fedkm/tables/node";
import type { ReportParts } from "@fedkm/tables/report";
import { throwIfStopped } from "./stop.ts";
import { writeResultFolder } from "./write.ts";

export interface ResultsFlags extends ResultOptions {
  readonly out: string;
}

/** All results at once, or none. Returns where they are, what could not be carried over, and how sure the clusters are. */
export async function writeFitCommandResults(
  outcome: FitOutcome,
  { out, ...options }: ResultsFlags,
  { signal, ...context }: WorkContext & { signal: AbortSignal } & Pick<ReportParts, "network">,
) {
  const earlier = labelsOfFolder(out);
  await throwIfStopped(signal);
  const { names, ...said } = await writeResultFolder(out, (put) => putFitFiles(outcome, options, put, context));
  // Beside the new results they would be taken for theirs.
  removeLabels(out, earlier, names);
  return { paths: names.map((name) => join(out, name)), ...said };
}

export function summary(
  outcome: FitOutcome,
  warnings: readonly string[],
  { paths, verdict }: Pick<Awaited<ReturnType<typeof writeFitCommandResults>>, "paths" | "verdict">,
  milliseconds: object,
) {
  const { columns, clusters, objective, rounds, converged, messages, bytes, options, guarded, certificate } =
    outcome.model;
  const devices = outcome.model.devices.map(({ name, rows, sizes }) => ({ name, rows, sizes }));
  const answer = { options, devices, columns, clusters, numbersAgree: outcome.numbersAgree };
  const run = { objective, rounds, converged, messages, bytes, guarded, certificate };
  const candidates = outcome.chosen?.clusters.candidates;
  return { ...answer, candidates, verdict, ...run, warnings, files: paths, milliseconds };
}
