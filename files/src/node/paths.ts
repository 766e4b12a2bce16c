// Paths: patterns and folders that name files, for shells that leave them alone, and the system's words when it refuses one.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { getSystemErrorMap } from "node:util";
import { DataError } from "../source/refusal.ts";

/** What the system said, in its words and without its codes. */
export function fileSystemReason(error: unknown): string {
  const number = error instanceof Error && "errno" in error ? Number(error.errno) : Number.NaN;
  return getSystemErrorMap().get(number)?.[1] ?? String(error);
}

/** The files that patterns name, each once, in a fixed order. A name without a pattern is taken as it is. */
export function expandPatterns(patterns: readonly string[]): string[] {
  const files = patterns.flatMap((pattern) => {
    if (isPattern(pattern)) return matches(pattern);
    return statSync(pattern, { throwIfNoEntry: false })?.isDirectory() ? filesBelow(pattern) : [pattern];
  });
  return [...new Set(files)];
}

const READABLE = /\.((csv|tsv|tab|txt|jsonl|ndjson|json)(\.gz)?|parquet|pq|xlsx|npy|npz|zip)$/i;

/** All files of a folder and of those in it that can be read by their endings. */
function filesBelow(folder: string): string[] {
  const found = walk(folder, ["**", "*"]).filter((file) => READABLE.test(file));
  if (found.length > 0) return found.sort();
  throw new DataError(
    { file: folder },
    "hold files of rows",
    "none by their endings",
    `name them, such as '${folder}/*'`,
  );
}

function isPattern(text: string): boolean {
  // A file of that very name comes first.
  return /[*?[]/.test(text) && statSync(text, { throwIfNoEntry: false }) === undefined;
}

function matches(pattern: string): string[] {
  const parts = pattern.replaceAll("\\", "/").split("/");
  const fixed = parts.findIndex((part) => /[*?[]/.test(part));
  const base = parts.slice(0, fixed).join("/");
  const found = walk(base === "" && fixed > 0 ? "/" : base, parts.slice(fixed)).sort();
  if (found.length === 0) {
    throw new DataError({ file: pattern }, "match a file", "no match", "check the pattern, and quote it for the shell");
  }
  return found;
}

function walk(folder: string, parts: readonly string[]): string[] {
  const [part, ...rest] = parts;
  const entries = () => readdirSync(folder === "" ? "." : folder, { withFileTypes: true });
  const path = (name: string) => (folder === "" ? name : join(folder, name));
  try {
    if (part === "**") {
      const below = entries().filter((entry) => entry.isDirectory() && !entry.name.startsWith("."));
      return [...walk(folder, rest), ...below.flatMap(({ name }) => walk(path(name), parts))];
    }
    const expression = nameExpression(part);
    const named = entries().filter(
      ({ name }) => expression.test(name) && (part.startsWith(".") || !name.startsWith(".")),
    );
    if (rest.length === 0) return named.filter((entry) => !entry.isDirectory()).map(({ name }) => path(name));
    return named.filter((entry) => entry.isDirectory()).flatMap(({ name }) => walk(path(name), rest));
  } catch {
    // A folder that is not there, or not ours to look into, matches nothing.
    return [];
  }
}

/** A set such as [0-2] or [!a] is taken as it is; a bracket that is not closed is a letter. */
function nameExpression(part: string): RegExp {
  const pieces = part.match(/\[!?[^\]/]+\]|[^[]+|\[/g) ?? [];
  const expressions = pieces.map((piece) => {
    if (/^\[.+\]$/s.test(piece)) return piece.replace("[!", "[^").replaceAll("\\", "\\\\");
    const escaped = piece.replaceAll(/[.+^${}()|[\]\\]/g, "\\$&");
    return escaped.replaceAll("*", ".*").replaceAll("?", ".");
  });
  return new RegExp(`^${expressions.join("")}$`);
}
