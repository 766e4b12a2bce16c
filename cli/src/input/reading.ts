// While files are read: standard input as a file, and how far the reading is.

import { closeSync, createWriteStream, mkdtempSync, openSync, readSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { percentText } from "../progress.ts";

let spooled: Promise<string> | undefined;

/** The patterns with "-" as a file that holds the standard input, since rows are read more than once. */
export async function withStandardInput(patterns: readonly string[]): Promise<string[]> {
  if (!patterns.includes("-")) return [...patterns];
  spooled ??= spool();
  const file = await spooled;
  return patterns.map((pattern) => (pattern === "-" ? file : pattern));
}

async function spool(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "fedkm-input-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "stdin");
  await pipeline(process.stdin, createWriteStream(file));
  // The ending says which text it is; other formats are known by their first bytes.
  const ending = endings[firstLetter(file)] ?? ".csv";
  renameSync(file, file + ending);
  return file + ending;
}

const endings: Readonly<Record<string, string>> = { "{": ".jsonl", "[": ".json" };

function firstLetter(file: string): string {
  const bytes = Buffer.alloc(64);
  const handle = openSync(file, "r");
  const length = readSync(handle, bytes);
  closeSync(handle);
  return bytes.subarray(0, length).toString().trimStart().slice(0, 1);
}

/** For each file a function that is told how many of its bytes were read, and says how far all files are. */
export function readingWatch(files: readonly string[], say: (text: string) => void, now = () => performance.now()) {
  const sizes = files.map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const began = now();
  return (file: string) => {
    const at = files.indexOf(file);
    const before = sizes.slice(0, at).reduce((sum, size) => sum + size, 0);
    say(basename(file));
    return (bytes: number) => {
      const share = (before + Math.min(bytes, sizes[at])) / total;
      say(`${basename(file)}  ${percentText(share, now() - began)}`);
    };
  };
}
