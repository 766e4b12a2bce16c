// The ways to fail: what the user got wrong (exit 2) and what went wrong (exit 1), in one line each.

import { getSystemErrorMap } from "node:util";
import { CommanderError } from "commander";

/** Thrown for arguments that cannot be meant. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export function exitCode(error: unknown): 0 | 1 | 2 {
  // Commander throws after --help and --version too, with 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
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
