// The ways to fail: what the user got wrong (exit 2) and what went wrong (exit 1), in one line each.

import { DataError } from "@fedkm/files";
import { CommanderError } from "commander";
import { refusalLine } from "./input/remedies.ts";

export { systemReason } from "@fedkm/files";

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
  return `fedkm: ${textOf(error)
    .replace(/^error: /, "")
    .replaceAll(/\s*\n\s*/g, " ")}`;
}

function textOf(error: unknown): string {
  if (error instanceof DataError) return refusalLine(error);
  return error instanceof Error ? error.message : String(error);
}
