// fedkm device study: the study of a device, and its change, in the device's folder; a running device sees it within seconds.

import { compareStudies, contractOf, limitsFault, parseStudy, type Study, studyId } from "@fedkm/device";
import {
  acceptInFolder,
  type DaemonStatus,
  type DeviceFolder,
  finishChangeInFolder,
  isLocked,
  lastStatus,
  lookAtRowSource,
  proposeInFolder,
  readFolder,
  readNextInFolder,
  readTextFile,
  withdrawChangeInFolder,
} from "@fedkm/device/daemon";
import { printable } from "@fedkm/files/printable";
import { alignColumns } from "@fedkm/pictures/terminal";
import { chosenWords } from "@fedkm/tables";
import { type Console, warnOn } from "../../console.ts";
import { UsageError } from "../../failure.ts";

/** So many digits of a hash are shown. */
const SHORT_HASH = 8;

export async function runDeviceStudyCommand(state: string, { stdout }: Console): Promise<void> {
  const { study, path } = await readFolder(state);
  const next = await readNextInFolder(path);
  const status = (await isLocked(path)) ? lastStatus(path) : undefined;
  const lines = [
    `study: ${await titleOf(study)}`,
    ...(next === undefined ? [] : [`changing to: ${await titleOf(next)}`, ...differences(study, next)]),
    ...(status === undefined
      ? ["the device does not run, so nothing is known about its neighbours"]
      : neighbourStudies(status)),
    ...describedLines(status, state),
    ...chosenLines(status, state),
    ...(status?.proposals ?? []).flatMap(({ studyHash, text, from }) => [
      "",
      `${from.join(", ")} proposes ${short(studyHash)}:`,
      ...differences(study, parseStudy(text)),
      `to accept it: fedkm device study accept ${short(studyHash)} --state ${state}`,
    ]),
  ];
  stdout.write(`${lines.map(printable).join("\n")}\n`);
}

/** What the network of an open study has found out, and what its owner is to say. */
function describedLines(status: DaemonStatus | undefined, state: string): string[] {
  const described = status?.device.shared?.described;
  if (described == null) return [];
  const { columns, rows, remarks, studyHash, isApproved, isApprovedByAll } = described;
  const table = columns.map(({ name, gaps, mean, deviation, quantiles = [], levels, rare = 0 }) => {
    if (levels === undefined)
      return [name, String(gaps), ...[mean, deviation, quantiles[0], quantiles[2], quantiles[4]].map(shortNumber)];
    const others = rare > 0 ? [`others ${rare}`] : [];
    return [name, String(gaps), [...levels.map((level) => `${level.name} ${level.count}`), ...others].join(", ")];
  });
  const heading = ["column", "gaps", "mean", "deviation", "5 %", "50 %", "95 %"];
  const numbers = table.filter((row) => row.length > 3);
  const words = table.filter((row) => row.length === 3);
  return [
    "",
    `the network has described ${rows} rows:`,
    ...(numbers.length === 0 ? [] : alignColumns([heading, ...numbers])),
    ...(words.length === 0 ? [] : alignColumns([["column", "gaps", "values"], ...words])),
    ...remarks.map((remark) => `look: ${remark}`),
    ...(studyHash === null ? ["no column can be used, so there is nothing to approve of"] : []),
    ...(isApproved
      ? [isApprovedByAll ? "every owner has approved of this" : "approved here; other owners have not yet"]
      : [
          "Approve only if your columns mean what the study says: these become scale and bounds for good.",
          `to approve: fedkm device study accept ${short(studyHash ?? "")} --state ${state}`,
        ]),
  ];
}

/** Which k the network has found, and what its owner is to say. */
function chosenLines(status: DaemonStatus | undefined, state: string): string[] {
  const chosen = status?.device.shared?.chosen;
  if (chosen == null) return [];
  const { rows, candidates, curve, isFromGroups, isSecondVote, isApprovedByAll } = chosen;
  const approved = candidates.find(({ isApproved }) => isApproved);
  const heading = ["k", "cost", "silhouette", ...(isFromGroups ? [] : ["apart", "of the rows"])];
  const scores = curve.map(({ k, inertia, silhouette, clusters, apart }) => [
    ...[String(k), shortNumber(inertia), silhouette.toFixed(3)],
    ...(isFromGroups ? [] : [String(clusters), `${Math.round(100 * apart)} %`]),
  ]);
  return [
    "",
    `the network has looked for clusters in ${rows} rows:`,
    ...alignColumns([heading, ...scores]),
    ...(isSecondVote ? ["owners wanted different numbers of clusters; most wanted this one:"] : []),
    ...candidates.map((candidate) => `${short(candidate.studyHash)}: ${chosenWords(candidate)}`),
    ...(approved !== undefined
      ? [
          `k = ${approved.k} is approved here; ${isApprovedByAll ? "every owner wants it" : "other owners have not said yet"}`,
        ]
      : [
          "The fit then asks your rows about ten times for counts and sums by cluster.",
          `to approve: fedkm device study accept ${short(candidates[0]?.studyHash ?? "")} --state ${state}`,
        ]),
  ];
}

const shortNumber = (value: number | undefined) => (value === undefined ? "" : String(Number(value.toPrecision(4))));

function neighbourStudies({ links, studyHash, next }: DaemonStatus): string[] {
  const rows = links.map(({ name, studies, isMissing }) => {
    const hashes = studies.map((hash) => short(hash)).join(" and ");
    return [name, hashes === "" ? short(studyHash) : hashes, isMissing ? "has not accepted the new one" : ""];
  });
  const clusters = next?.device.centroids;
  return [
    ...(next === null ? [] : [`in the new study: ${next.device.phase}, ${clusters?.length ?? 0} clusters`]),
    ...(rows.length === 0 ? [] : ["", ...alignColumns([["link", "study", ""], ...rows])]),
  ];
}

export async function runDeviceStudyProposeCommand(file: string, state: string, io: Console): Promise<void> {
  await accept(await readFolder(state), parseStudy(readTextFile(file)), io);
}

export async function runDeviceStudyAcceptCommand(hash: string, state: string, io: Console): Promise<void> {
  const folder = await readFolder(state);
  const accepted = await acceptInFolder(state, hash);
  if ("study" in accepted) return accept(folder, accepted.study, io);
  const when = accepted.isRunning ? "" : " when it is run";
  const what = `${folder.name} approves of ${short(accepted.approved)}${when}`;
  io.stdout.write(`${what}; the network goes on when every owner has\n`);
}

async function accept(folder: DeviceFolder, study: Study, io: Console): Promise<void> {
  const { path, name, data, limits = {} } = folder;
  // What cannot be read later is said now.
  const out = limitsFault(study, limits);
  if (out !== undefined)
    throw new UsageError(`the owner's limits in ${path}/device.json keep ${name} out of it: ${out}`);
  const { fault } = await lookAtRowSource({ data, study, limits }, process.env);
  await proposeInFolder(folder, study);
  const lines = [
    `${name} accepts ${await titleOf(study)}`,
    ...differences(folder.study, study),
    "It goes on with the previous study as well, and ends that when all its neighbours have accepted the new one.",
    `They see the proposal, and accept it with: fedkm device study accept ${short(await idOf(study))}`,
  ];
  io.stdout.write(`${lines.map(printable).join("\n")}\n`);
  if (fault !== undefined) warnOn(io)(fault);
}

export async function runDeviceStudyWithdrawCommand(state: string, { stdout }: Console): Promise<void> {
  const { name, study } = await folderInChange(state);
  const isRunning = await withdrawChangeInFolder(state);
  stdout.write(`${name} stays with ${await titleOf(study)}${isRunning ? ", within a few seconds" : ""}\n`);
}

export async function runDeviceStudyFinishCommand(state: string, { stdout }: Console): Promise<void> {
  const { name, next } = await folderInChange(state);
  const isRunning = await finishChangeInFolder(state, new Date());
  const when = isRunning ? "within a few seconds" : "when it is run";
  const others = "neighbours that have not accepted it are refused until they do";
  stdout.write(`${name} uses only ${await titleOf(next)} ${when}; ${others}\n`);
}

async function folderInChange(state: string): Promise<{ name: string; study: Study; next: Study }> {
  const { name, study } = await readFolder(state);
  const next = await readNextInFolder(state);
  if (next === undefined)
    throw new Error(`${name} must be in a change of study, got none (see fedkm device study propose)`);
  return { name, study, next };
}

function differences(before: Study, after: Study): string[] {
  return compareStudies(before, after).map((line) => `  ${line.replace(/ here, (.*) there$/, " now, $1 then")}`);
}

async function titleOf(study: Study): Promise<string> {
  return `${JSON.stringify(study.name)} (${short(await idOf(study))})`;
}

async function idOf(study: Study): Promise<string> {
  return studyId(await contractOf(study));
}

function short(hash: string): string {
  return hash.slice(0, SHORT_HASH);
}
