// fedkm up: a whole network of real devices on this machine, in a live table, until it is stopped.

import { join } from "node:path";
import { edges, type Matrix, paperData } from "@fedkm/core";
import { parseStudy } from "@fedkm/device";
import {
  approveInFolder,
  type DaemonStatus,
  hasDaemonSettled,
  localNetworkName,
  localNetworkOfPoints,
  type NetworkData,
  prepareLocalNetwork,
  readTextFile,
  rowSourcePoints,
  runProcesses,
  type Statuses,
} from "@fedkm/device/daemon";
import { alignColumns, duration } from "@fedkm/pictures/terminal";
import { chosenWords, linkDevices } from "@fedkm/tables";
import { countLabel, significantLabel } from "@fedkm/tables/numbers";
import { dashboardAddress, openDashboard } from "@fedkm/web/server";
import { boldOn, type Console } from "../../console.ts";
import { dashboardSource } from "../../deviceFolders.ts";
import { UsageError } from "../../failure.ts";
import { linksOfFlag } from "../../input/reading.ts";
import { ownProgram } from "../../package.ts";
import { repaintProgressLines } from "../../progress.ts";
import { stoppable } from "../../stop.ts";

export interface UpFlags {
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

export async function runUpCommand(options: UpFlags, io: Console): Promise<void> {
  const { state, seed, json } = options;
  const { studyText, data, datasets } = await networkData(options);
  const names = data.map((_, index) => localNetworkName(index, data.length));
  const graph = await linkDevices(linksOfFlag(options.graph), names, datasets, { seed });
  const links = Array.from(edges(graph)).length;
  const statuses = await stoppable(async (signal) => {
    const folders = await prepareLocalNetwork({ base: state, studyText, data, graph });
    const onEnd = (words: string) => io.stderr.write(`fedkm: ${words}\n`);
    const ends = new Map<string, string>();
    const source = dashboardSource(folders, (folder) => ends.get(folder));
    const dashboard =
      options.dashboard === undefined ? undefined : await openDashboard(state, source, options.dashboard);
    try {
      if (dashboard !== undefined) io.stderr.write(`${await dashboardAddress(state)}\n`);
      if (!json)
        io.stdout.write(`${data.length} devices, ${links} links, state in ${state}; Ctrl-C stops all of them\n`);
      // What is to come to an end by itself fails with a device that ends; a network that is kept up goes on.
      const supervision = options.untilSettled === true ? undefined : { onEnd, ends };
      const paint = painter(signal, options, io);
      const approve = approver(folders, io);
      const look = (statuses: Statuses) => {
        approve(statuses);
        return paint(statuses);
      };
      return await runProcesses(folders, [...ownProgram, "device", "run", "--state"], signal, look, supervision);
    } finally {
      dashboard?.close();
    }
  });
  if (json) io.stdout.write(`${JSON.stringify({ devices: statuses.length, links, statuses }, undefined, 2)}\n`);
  else io.stdout.write(`stopped; the state stays in ${state}\n`);
}

/** All devices have one owner here, who approves of what their network finds out: of several k of the first. */
function approver(folders: readonly string[], { stderr }: Console) {
  const approved = new Set<string>();
  return (statuses: Statuses): void => {
    for (const [i, status] of statuses.entries()) {
      const { described, chosen } = status?.device.shared ?? {};
      const hash = described?.studyHash ?? chosen?.candidates[0]?.studyHash;
      const mark = `${folders[i]} ${hash}`;
      if (hash === undefined || approved.has(mark)) continue;
      approved.add(mark);
      const words = described == null ? (chosen?.candidates ?? []).map(chosenWords) : described.remarks;
      for (const line of i === 0 ? words : []) stderr.write(`fedkm: ${line}\n`);
      approveInFolder(folders[i], hash).catch((error: unknown) => {
        approved.delete(mark);
        stderr.write(`fedkm: ${error instanceof Error ? error.message : String(error)}\n`);
      });
    }
  };
}

/** Paints the table at each look, until somebody stops it or, if that was asked for, all devices are settled. */
function painter(signal: AbortSignal, { untilSettled, json }: UpFlags, { stdout, env }: Console) {
  const isLive = stdout.isTTY === true && !json;
  let painted = 0;
  return (statuses: Statuses): boolean => {
    const isOver = signal.aborted || (untilSettled === true && statuses.every((status) => hasDaemonSettled(status)));
    // Without a terminal there is one table, the last.
    if (isLive || (isOver && !json))
      painted = repaintProgressLines(stdout, networkTable(statuses, boldOn(stdout, env)), painted);
    return isOver;
  };
}

const heading = ["device", "state", "peers", "round", "move", "objective", "oldest", "sent", "bytes"];

function networkTable(statuses: Statuses, bold: (text: string) => string): string[] {
  const starting = (index: number) => [String(index + 1), "starting", ...heading.slice(2).map(() => "")];
  const rows = statuses.map((status, index) => (status === undefined ? starting(index) : deviceRow(status)));
  const parts = statuses.flatMap((status) => status?.device.objective ?? []);
  const total = parts.reduce((sum, part) => sum + part, 0);
  const settled = statuses.filter((status) => ["settled", "alone"].includes(status?.device.phase ?? "")).length;
  return [
    ...alignColumns([heading, ...rows], (text, row) => (row === 0 ? bold(text) : text)),
    // Devices with shared clusters do not know theirs.
    `${settled} of ${statuses.length} settled${parts.length === 0 ? "" : `, objective ${significantLabel(total, 6)}`}`,
  ];
}

function deviceRow({ name, device, links }: DaemonStatus): string[] {
  const { phase, round, move, objective, framesSent } = device;
  const ages = links.map(({ age }) => age);
  const oldest = ages.some((age) => age === null) ? "never" : duration(Math.max(0, ...ages.map(Number)));
  return [
    name,
    phase,
    `${links.filter(({ isConnected }) => isConnected).length}/${links.length}`,
    countLabel(round),
    move === null ? "" : significantLabel(move, 2),
    objective === null ? "" : significantLabel(objective, 5),
    links.length === 0 ? "" : oldest,
    countLabel(framesSent),
    countLabel(links.reduce((sum, { sent }) => sum + sent.bytes, 0)),
  ];
}

/** A study, a file for each device, and its points. */
async function networkData(options: UpFlags): Promise<NetworkData & { readonly datasets: readonly Matrix[] }> {
  const { data, study, devices, seed, state } = options;
  if (data === undefined) {
    if (study !== undefined) throw new UsageError("--study needs --data: the paper's points have a study of their own");
    const { datasets } = paperData("iso", devices ?? 10, 100, seed);
    return { ...localNetworkOfPoints(datasets, join(state, "data")), datasets };
  }
  if (study === undefined) throw new UsageError("--data needs --study (fedkm study init --data writes a first one)");
  if (devices !== undefined && devices !== data.length) {
    throw new UsageError(`--devices must be ${data.length} (the files of --data), got ${devices}`);
  }
  const studyText = readTextFile(study);
  const datasets = await Promise.all(data.map((file) => rowSourcePoints(file, parseStudy(studyText), process.env)));
  return { studyText, data: data.map((path) => ({ path })), datasets };
}
