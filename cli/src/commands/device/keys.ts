// fedkm device rotate, follow, revoke and log: whose keys are trusted, and what happened to links, keys and data.

import { readFileSync } from "node:fs";
import {
  type AuditLine,
  type AuditReport,
  auditLogFacts,
  changeMember,
  followKeyInFolder,
  readAudit,
  readFolder,
  revokePeer,
  rotateKey,
} from "@fedkm/device/daemon";
import { printable } from "@fedkm/files/printable";
import { type Console, printAnswer, warnOn } from "../../console.ts";
import { writeResultFile } from "../../write.ts";

export interface RotateOptions {
  readonly state: string;
  readonly accept?: readonly "absent"[];
}

export async function runDeviceRotateCommand({ state, accept = [] }: RotateOptions, io: Console): Promise<void> {
  const now = accept.includes("absent");
  const folder = await readFolder(state);
  const { next, isDone, isRunning, behind, successors } = await rotateKey(folder, now, warnOn(io));
  const file = `${state}/successor`;
  await writeResultFile(file, `${successors}\n`);
  const names = behind.join(", ");
  const lines = [`${folder.name} has a new key: ${next}`];
  if (isDone || now || behind.length === 0) {
    lines.push(
      isDone ? "it is used from the next start on" : "the running device begins to use it within a few seconds",
    );
    if (behind.length > 0) lines.push(`the old key is kept for neighbours that do not know the new one yet: ${names}`);
  } else {
    lines.push(
      `the device ${isRunning ? "" : "must run, and "}begins to use it when all neighbours know it; they do not yet: ${names}`,
      `to use it without waiting for them: fedkm device rotate --accept absent --state ${state}`,
    );
  }
  if (behind.length > 0)
    lines.push(`a neighbour that cannot be reached needs the file ${file}: fedkm device follow FILE`);
  io.stdout.write(`${lines.join("\n")}\n`);
}

export async function runDeviceFollowCommand(file: string, state: string, io: Console): Promise<void> {
  const names = await followKeyInFolder(await readFolder(state), readFileSync(file, "utf8"), warnOn(io));
  const nobody = "no link has followed: the file names no linked peer, or all of them have followed before";
  io.stdout.write(`${names.length > 0 ? `${names.join(", ")} is linked by its new key` : nobody}\n`);
}

export interface RevokeOptions {
  readonly state: string;
  readonly reason?: string;
}

export async function runDeviceRevokeCommand(
  which: string,
  { state, reason = "" }: RevokeOptions,
  io: Console,
): Promise<void> {
  const folder = await readFolder(state);
  const { peer, unlinked, isSelf } = await revokePeer(folder, which, reason, warnOn(io));
  const lines = isSelf
    ? [
        `${folder.name} has revoked its own key: every device that has linked it unlinks it when the notice arrives`,
        "run it until then, and then delete its folder",
      ]
    : [
        `revoked ${unlinked ?? peer}${unlinked === undefined ? "" : ", which is unlinked here"}`,
        "this device's neighbours unlink it when the notice arrives, and the notice travels on from device to device",
      ];
  io.stdout.write(`${lines.join("\n")}\n`);
}

export async function runDeviceMemberCommand(
  kind: "admit" | "remove",
  which: string,
  state: string,
  io: Console,
  rows?: number,
): Promise<void> {
  const folder = await readFolder(state);
  const { peer, isDone, voices, vouchers } = await changeMember(folder, kind, which, rows, warnOn(io));
  const done = kind === "admit" ? "is a member now: its rows count" : "is no member any more: its rows do not count";
  const heard = "where the statement has arrived, from device to device";
  const needed = `${voices} of ${vouchers} members have said so; the others run fedkm device ${kind} ${peer}`;
  io.stdout.write(`${isDone ? `${peer} ${done}, ${heard}` : needed}\n`);
}

export async function runDeviceLogCommand({ state, json }: { state: string; json?: boolean }, io: Console) {
  await readFolder(state);
  const report = await readAudit(state);
  const { lines, broken, cut, last } = report;
  const facts = { isWhole: broken === undefined, broken: broken ?? null, cut, last, lines };
  printAnswer(io, json, facts, () => [...lines.map(sentence), "", verdict(report)].map(printable));
  if (broken !== undefined) {
    throw new Error(`${state}/${broken.file}, line ${broken.line} must follow the line before it, got a broken chain`);
  }
}

function sentence(line: AuditLine): string {
  const facts = auditLogFacts(line);
  return [`${line.at}  ${line.event}`, ...(facts.length > 0 ? [facts.join(", ")] : [])].join("  ");
}

function verdict({ lines, cut, broken, last }: AuditReport): string {
  if (broken !== undefined) return `the chain is broken at line ${broken.line} of ${broken.file}`;
  const pieces = cut === 0 ? "" : `, ${cut} of them cut off by a crash`;
  return `${lines.length + cut} lines in one whole chain${pieces}, which ends in ${last}`;
}
