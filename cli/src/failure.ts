// Exit codes and the one line that goes with each: 2 for bad usage, 1 for a failure, 3 for a device that does not run, 4 for
// one with which something is wrong, 128 and the signal's number for an interruption.

import { DataError, printable } from "@fedkm/files/printable";
import { RequestError } from "@fedkm/tables/light";
import { CommanderError } from "commander";
import { refusalLine } from "./remedies.ts";
import { Stopped } from "./stop.ts";

/** Thrown for arguments that cannot be meant. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Thrown where the answer is that a device does not run. */
export class NotRunning extends Error {
  override readonly name = "NotRunning";
}

/** Thrown where the answer is that something is wrong with a device that runs. */
export class SomethingWrong extends Error {
  override readonly name = "SomethingWrong";
}

export function exitCode(error: unknown): number {
  if (error instanceof CommanderError) return 2;
  if (error instanceof Stopped) return error.exitCode;
  // As the status of a service that is not running has it (Linux Standard Base).
  if (error instanceof NotRunning) return 3;
  if (error instanceof SomethingWrong) return 4;
  return error instanceof UsageError || error instanceof RequestError ? 2 : 1;
}

export function messageLine(error: unknown): string {
  const line = textOf(error)
    .replace(/^error: /, "")
    .replaceAll(/\s*\n\s*/g, " ");
  return `fedkm: ${printable(line)}`;
}

function textOf(error: unknown): string {
  if (error instanceof DataError) return refusalLine(error);
  return error instanceof Error ? error.message : String(error);
}
