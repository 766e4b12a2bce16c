// fedkm device rotate: a new key for the device, for which the old one vouches.

import { readFolder, rotateFolder } from "@fedkm/device/daemon";
import type { Console } from "../../console.ts";
import { noteInLog } from "../../devices/audit.ts";
import { writeWhole } from "../../write.ts";

export interface RotateOptions {
  readonly state: string;
  readonly now?: boolean;
}

export async function rotateDevice({ state, now = false }: RotateOptions, { stdout, stderr }: Console): Promise<void> {
  const { name } = await readFolder(state);
  const result = await rotateFolder(state, now, new Date());
  const { old, next, isDone, isRunning, behind, successors } = result;
  const from = { from: old, to: next };
  await noteInLog(state, isDone ? "rotated" : "rotating", from, stderr);
  const file = `${state}/successor`;
  await writeWhole(file, `${successors}\n`);
  stdout.write(
    `${[`${name} has a new key: ${next}`, ...outcome(state, { isDone, isRunning, behind, now })].join("\n")}\n`,
  );
  if (behind.length > 0) {
    stdout.write(`a neighbour that cannot be reached needs the file ${file}: fedkm device link --successor FILE\n`);
  }
}

interface Outcome {
  readonly isDone: boolean;
  readonly isRunning: boolean;
  readonly behind: readonly string[];
  readonly now: boolean;
}

function outcome(state: string, { isDone, isRunning, behind, now }: Outcome): string[] {
  const names = behind.join(", ");
  if (isDone || now || behind.length === 0) {
    const when = isDone
      ? "it is used from the next start on"
      : "the running device begins to use it within a few seconds";
    return [when, ...(behind.length === 0 ? [] : [`the old key is kept for those that do not know it yet: ${names}`])];
  }
  return [
    `the device ${isRunning ? "" : "must run, and "}begins to use it when all neighbours know it; they do not yet: ${names}`,
    `to use it without waiting for them: fedkm device rotate --now --state ${state}`,
  ];
}
