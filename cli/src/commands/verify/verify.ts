// fedkm verify: a model and its files in, its certificate computed again, and the first thing that does not fit.

import type { Certificate } from "@fedkm/core";
import { DataError, type DialectOptions } from "@fedkm/files";
import { type Model, type StudyPlan, verifyTables } from "@fedkm/tables";
import { readModel } from "@fedkm/tables/node";
import { countLabel, significantLabel } from "@fedkm/tables/numbers";
import { type Console, printAnswer } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { inputRowsOfCommand } from "../../input/reading.ts";
import { progressWatch, withProgress } from "../../progress.ts";

export interface VerifyFlags extends DialectOptions {
  readonly deviceColumn?: string;
  readonly json?: boolean;
}

export async function runVerifyCommand(
  file: string,
  patterns: readonly string[],
  options: VerifyFlags,
  io: Console,
): Promise<void> {
  if (file.endsWith(".zip")) return verifyEvidence(file, options, io);
  if (patterns.length === 0) throw new UsageError("verify needs the files that the model was fitted to, got none");
  const model = readModel(file, { whole: true });
  const study = await planOf(file, model);
  const rows = await inputRowsOfCommand(patterns, {}, io.env);
  const { certificate, fault } = await withProgress(io, (progress) =>
    verifyTables({ ...options, ...rows, ...study, model }, { onProgress: progressWatch(progress, rows.files) }),
  );
  if (options.json) {
    const summary = { model: file, verified: fault === undefined, fault: fault ?? null, certificate };
    io.stdout.write(`${JSON.stringify(summary, undefined, 2)}\n`);
  }
  if (fault !== undefined) throw new Error(`${file} is not verified: ${fault}`);
  if (!options.json && certificate)
    io.stdout.write(`${[`${file} is verified`, ...factLines(model, certificate)].join("\n")}\n`);
}

async function verifyEvidence(file: string, { json }: VerifyFlags, io: Console): Promise<void> {
  const { checkEvidence } = await import("@fedkm/audit/evidence");
  const { peer, payload, fault } = await checkEvidence(file);
  const summary = {
    evidence: file,
    verified: fault === undefined,
    fault: fault ?? null,
    signedBy: peer,
    files: [...payload.keys()],
  };
  if (json) printAnswer(io, json, summary, () => []);
  if (fault !== undefined) throw new Error(`${file} is not verified: ${fault}`);
  if (json) return;
  const whole = `${countLabel(payload.size)} files, whole, signed by ${peer}`;
  io.stdout.write(
    `${file} is verified\n${whole}\ncompare the key with the one that fedkm device key prints at the site\n`,
  );
}

/** What studies are is loaded only where a model has one. */
async function planOf(file: string, { study }: Model): Promise<{ study?: StudyPlan }> {
  if (study === undefined) return {};
  const { parseStudy, studyPlan } = await import("@fedkm/device");
  try {
    return { study: studyPlan(parseStudy(JSON.stringify(study))) };
  } catch (error) {
    const shown = JSON.stringify(study).slice(0, 40);
    throw new DataError({ file }, "have a whole study as study", shown, "write it again with fedkm fit", {
      cause: error,
    });
  }
}

function factLines({ devices, options, rounds, converged }: Model, certificate: Certificate): string[] {
  const { objective, residual, relativeResidual, largestRise, ties } = certificate;
  const rows = devices.reduce((sum, own) => sum + own.rows, 0);
  return [
    `${countLabel(devices.length)} devices, ${countLabel(rows)} rows, ${options.method}, k = ${options.k}, alpha = ${options.alpha}`,
    `objective ${significantLabel(objective, 4)}, ${converged ? "settled" : "stopped"} after ${countLabel(rounds)} rounds, largest rise ${significantLabel(largestRise, 2)}`,
    `one more update moves a centroid by at most ${significantLabel(residual, 2)}, ${significantLabel(relativeResidual, 2)} of the range of the rows`,
    `${significantLabel(100 * ties, 2)} % of the rows are as near to a second centroid, within rounding`,
  ];
}
