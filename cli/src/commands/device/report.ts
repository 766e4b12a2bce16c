// fedkm device report: the report, model and labels of a device's own rows by the clusters of its network.

import { objective } from "@fedkm/core";
import { isOpenStudy, studyRequest } from "@fedkm/device";
import { lastStatus, readFolder } from "@fedkm/device/daemon";
import { isAddress } from "@fedkm/sql/address";
import { examineStability, fitTables, modelLines, type StudyPlan } from "@fedkm/tables";
import { boldOn, type Console } from "../../console.ts";
import { writeFitCommandResults } from "../../fitResults.ts";
import { progressWatch, withProgress } from "../../progress.ts";
import { interruptible, stoppableUnchanged } from "../../stop.ts";
import { checkResultFolder } from "../../write.ts";

export interface ReportOptions {
  readonly state: string;
  readonly out: string;
}

export async function runDeviceReportCommand({ state, out }: ReportOptions, io: Console): Promise<void> {
  const { study, data, name } = await readFolder(state);
  const device = lastStatus(state)?.device;
  const centroids = device?.centroids;
  if (device === undefined || centroids == null || isOpenStudy(study))
    throw new Error(
      `${name} must have clusters to report on: run it until fedkm device status says that it is settled`,
    );
  const address = data.find(isAddress);
  if (address !== undefined) throw new Error(`data of ${name} must be files for a report, got the source ${address}`);
  checkResultFolder(out);
  const { features } = study;
  const scaled = {
    data: Float64Array.from(centroids.flatMap((row) => row.map((value, f) => value / features[f].scale))),
    ...{ rows: centroids.length, cols: features.length },
  };
  const flags = studyRequest(study);
  const { round, framesSent } = device;
  const run = { centroids: [scaled], rounds: round, converged: true };
  const traffic = { messages: framesSent, bytes: 0, history: [] };
  // The network has found the clusters: nothing is fitted here.
  const plan: StudyPlan = {
    ...flags.study,
    async simulate({ rows, graph }) {
      const own = rows.map((points) => flags.study.scaleRows(points));
      return { ...run, ...traffic, objective: objective(own, run.centroids, graph, { alpha: 0 }) };
    },
  };
  const { outcome, written } = await stoppableUnchanged((signal) =>
    withProgress(io, async (progress) => {
      const found = await fitTables(
        { ...flags, study: plan, method: "fedkm", graph: "complete", seed: 0, files: data },
        {
          signal,
          compute: (work) => interruptible(work, signal),
          // Fits of these rows alone would find other clusters than those of all, and say nothing of them.
          examineLater: (task) => async () =>
            examineStability(task, () => {
              throw new Error("only the network can find these clusters again");
            }),
        },
      );
      const network = device.shared?.validation ?? undefined;
      return {
        outcome: found,
        written: await writeFitCommandResults(found, { out }, { onProgress: progressWatch(progress), signal, network }),
      };
    }),
  );
  const lines = modelLines(outcome.model, { ...written, warnings: outcome.warnings }, boldOn(io.stdout, io.env));
  io.stdout.write(`${lines.join("\n")}\n`);
}
