// fedkm up: a whole network of real devices on this machine, in sight, until it is stopped.

import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { edges, type Matrix, paperData } from "@fedkm/core";
import { parseStudy } from "@fedkm/device";
import { readPoints } from "@fedkm/device/daemon";
import { type Console, isStyled } from "../../console.ts";
import { dashboardAddress, openDashboard } from "../../dashboard/open.ts";
import { type DataFile, deviceName, prepareFolders } from "../../devices/folders.ts";
import { type Processes, startProcesses } from "../../devices/processes.ts";
import { hasSettled } from "../../devices/state.ts";
import { planDatasets, readStudyText } from "../../devices/study.ts";
import { UsageError } from "../../failure.ts";
import { linkDevices } from "../../input/links.ts";
import { repaint } from "../../repaint.ts";
import { stoppable } from "../../stop.ts";
import { networkTable } from "./table.ts";

export interface UpOptions {
  readonly devices?: number;
  readonly graph: string;
  readonly data?: readonly string[];
  readonly study?: string;
  readonly seed: number;
  readonly state: string;
  readonly untilSettled?: boolean;
  readonly json?: boolean;
  readonly dashboard?: number;
}

const LOOK_EVERY_MILLISECONDS = 500;

export async function up(options: UpOptions, io: Console): Promise<void> {
  const { state, seed, json } = options;
  const { studyText, data, datasets } = await input(options);
  const names = data.map((_, index) => deviceName(index, data.length));
  const graph = await linkDevices(options.graph, names, datasets, seed);
  const links = Array.from(edges(graph)).length;
  const statuses = await stoppable(async (signal) => {
    const folders = await prepareFolders({ base: state, studyText, data, graph });
    const processes = await startProcesses(folders);
    const dashboard =
      options.dashboard === undefined ? undefined : await openDashboard(state, folders, options.dashboard);
    try {
      if (dashboard !== undefined) io.stderr.write(`${await dashboardAddress(state)}\n`);
      if (!json)
        io.stdout.write(`${data.length} devices, ${links} links, state in ${state}; Ctrl-C stops all of them\n`);
      await watch(processes, signal, options, io);
    } finally {
      dashboard?.close();
      await processes.stop();
    }
    return processes.statuses();
  });
  if (json) io.stdout.write(`${JSON.stringify({ devices: statuses.length, links, statuses }, undefined, 2)}\n`);
  else io.stdout.write(`stopped; the state stays in ${state}\n`);
}

/** Paints the table until somebody stops it, all are settled (if that was asked for), or a device ends by itself. */
async function watch(
  processes: Processes,
  signal: AbortSignal,
  { untilSettled, json }: UpOptions,
  { stdout, env }: Console,
): Promise<void> {
  const isLive = stdout.isTTY === true && !json;
  let painted = 0;
  for (;;) {
    const statuses = processes.statuses();
    const failure = processes.failure();
    if (failure !== undefined) throw new Error(failure);
    const isOver = signal.aborted || (untilSettled === true && statuses.every((status) => hasSettled(status)));
    // Without a terminal there is one table, the last.
    if (isLive || (isOver && !json)) painted = repaint(stdout, networkTable(statuses, isStyled(stdout, env)), painted);
    if (isOver) return;
    // Cut short when it is stopped, which the next turn sees.
    await pause(LOOK_EVERY_MILLISECONDS, undefined, { signal }).catch(() => undefined);
  }
}

interface UpInput {
  readonly studyText: string;
  /** A file for each device, and its points. */
  readonly data: readonly DataFile[];
  readonly datasets: readonly Matrix[];
}

async function input({ data, study, devices, seed, state }: UpOptions): Promise<UpInput> {
  if (data === undefined) {
    if (study !== undefined) throw new UsageError("--study needs --data: the paper's points have a study of their own");
    const { datasets } = paperData("iso", devices ?? 10, 100, seed);
    return { ...planDatasets(datasets, join(state, "data")), datasets };
  }
  if (study === undefined) throw new UsageError("--data needs --study (fedkm study init --data writes a first one)");
  if (devices !== undefined && devices !== data.length) {
    throw new UsageError(`--devices must be ${data.length} (the files of --data), got ${devices}`);
  }
  const studyText = readStudyText(study);
  const datasets = await Promise.all(data.map((file) => readPoints(file, parseStudy(studyText), process.env)));
  return { studyText, data: data.map((path) => ({ path })), datasets };
}
