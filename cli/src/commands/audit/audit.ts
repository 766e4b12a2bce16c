// fedkm audit: attacks on simulated networks, or on a recording of a device.

import {
  type AuditAnswer,
  auditAnswer,
  auditLines,
  auditPage,
  auditStudy,
  ownPrivateStudy,
  ownStudy,
} from "@fedkm/audit";
import { parseStudy, type Study } from "@fedkm/device";
import { readTextFile, rowSourcePoints } from "@fedkm/device/daemon";
import { counted } from "@fedkm/tables/numbers";
import { type Console, printAnswer } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { version } from "../../package.ts";
import { progressBar, withProgress } from "../../progress.ts";
import { writeResultFile } from "../../write.ts";

export interface AuditFlags {
  readonly study?: string;
  readonly data?: readonly string[];
  readonly privacy?: Study["privacy"];
  readonly runs: number;
  readonly seed: number;
  readonly state?: string;
  readonly out?: string;
  readonly json?: boolean;
}

export async function runAuditCommand(recording: string | undefined, flags: AuditFlags, io: Console): Promise<void> {
  const { state, study, data, out } = flags;
  if ((recording === undefined) !== (state === undefined)) {
    throw new UsageError("a recording and --state must be given together, got one of them");
  }
  if (recording !== undefined && (study !== undefined || data !== undefined || flags.privacy !== undefined)) {
    throw new UsageError(
      "a recording must be used without --study, --data and --privacy: the device's folder has them",
    );
  }
  if (data !== undefined && study === undefined) {
    throw new UsageError("--data needs --study, which names the columns and their bounds");
  }
  const answer =
    recording === undefined || state === undefined
      ? await auditNetworks(flags, io)
      : await (await import("@fedkm/audit/evidence")).auditDevice(recording, state, process.env);
  if (out !== undefined) await writeResultFile(out, auditPage(answer, version()));
  printAnswer(io, flags.json, answer, () => auditLines(answer, out));
}

async function auditNetworks(flags: AuditFlags, io: Console): Promise<AuditAnswer> {
  const { data = [], runs, seed } = flags;
  const study = studyOf(flags);
  const datasets = await Promise.all(data.map((file) => rowSourcePoints(file, study, process.env)));
  if (datasets.length === 1) throw new UsageError("--data must name at least 2 files, one for each device, got 1");
  const tallies = await withProgress(io, (progress) => {
    const onRun = async (done: number) => {
      progress.show(`fedkm  attacking ${study.privacy} [${progressBar(done / runs, 20)}] ${done} of ${runs}`);
      // Between two networks there is time for Ctrl-C and for the line to be drawn.
      await new Promise((resolve) => setImmediate(resolve));
    };
    return auditStudy({ study, datasets, runs, seed, onRun });
  });
  const source = data.length > 0 ? `${data.length} files` : "rows that were drawn";
  return auditAnswer(study, tallies, `${counted(runs, "simulated network")} with ${source}, seed ${seed}`);
}

function studyOf({ study: file, privacy }: AuditFlags): Study {
  if (file === undefined) return privacy === "private" ? ownPrivateStudy : { ...ownStudy, privacy: privacy ?? "open" };
  const study = parseStudy(readTextFile(file));
  if (privacy === "private" && study.privacy !== "private")
    throw new UsageError(`--privacy private needs a study with an epsilon, got one with privacy ${study.privacy}`);
  return { ...study, privacy: privacy ?? study.privacy };
}
