// Exit codes and the one line that goes with each: 2 for bad usage, 1 for a failure, 128 and the signal's number for an interruption.

import { getSystemErrorMap } from "node:util";
import { CommanderError } from "commander";
import { Stopped } from "./stop.ts";

/** Thrown for arguments that cannot be meant. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export function exitCode(error: unknown): number {
  // Commander throws after --help and --version too, with 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof Stopped) return error.exitCode;
  return error instanceof UsageError ? 2 : 1;
}

export function messageLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return `fedkm: ${message.replace(/^error: /, "").replaceAll(/\s*\n\s*/g, " ")}`;
}

/** What the system said, in its words and without its codes. */
export function systemReason(error: unknown): string {
  const number = error instanceof Error && "errno" in error ? Number(error.errno) : Number.NaN;
  return getSystemErrorMap().get(number)?.[1] ?? String(error);
}
