// What the patterns of a command line stand for: files, sources by their addresses, and the standard input as a file.

import { closeSync, createWriteStream, existsSync, mkdtempSync, openSync, readSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { graph, methods } from "@fedkm/core";
import type { Plugins } from "@fedkm/experiments";
import { expandPatterns, type MissingPolicy, readLinks } from "@fedkm/files";
import { isAddress } from "@fedkm/sql/address";
import {
  isLinkRule,
  type LinksRequest,
  linkRules,
  linksAmongAlike,
  type NamedMethod,
  type ProposedOptions,
  proposeForFiles,
  type SourceRequest,
  type WorkContext,
} from "@fedkm/tables";
import { inputSourceAt } from "@fedkm/tables/node";
import type { Console } from "../console.ts";
import { UsageError } from "../failure.ts";
import type { SourceFlags } from "./options.ts";

// --graph: a rule, a graph of a plug-in, or a file of links.

export function linksOfFlag(spec: string, plugged: Plugins["graphs"] = {}): LinksRequest {
  const [name, ...texts] = spec.split(":");
  if (Object.hasOwn(plugged, name)) {
    const text = texts.join(":");
    return { name: spec, links: (names, seed) => plugged[name]({ devices: names.length, seed, text }) };
  }
  if (isLinkRule(spec)) return spec;
  const among = linksAmongAlike(spec);
  const links = among === undefined ? undefined : linksOfFlag(among, plugged);
  if (typeof links === "object" && "name" in links) return { ...links, name: spec, isAlike: true };
  if (!existsSync(spec)) {
    const rules = [...linkRules, ...Object.keys(plugged)].join(", ");
    throw new UsageError(`--graph must be ${rules} or a file of links, got "${spec}"`);
  }
  return { name: spec, links: async (names) => graph(names.length, await readLinks(spec, names)) };
}

// --method: a method of a plug-in, of core, or shared clusters, which alone need what devices are made of.

export async function methodOfFlag(name: string, plugged: Plugins["methods"] = {}): Promise<string | NamedMethod> {
  if (Object.hasOwn(plugged, name)) return { name, method: plugged[name] };
  if (Object.hasOwn(methods, name)) return name;
  if (name !== "shared") {
    const names = [...Object.keys(methods), "shared", ...Object.keys(plugged)];
    throw new UsageError(`--method must be one of ${names.join(", ")}, got "${name}"`);
  }
  const { sharedMethod } = await import("@fedkm/device");
  return { name, method: sharedMethod };
}

interface PatternRows {
  readonly files: readonly string[];
  readonly sources: readonly SourceRequest[];
}

/** The files and the sources that patterns stand for. */
export async function inputRowsOfCommand(
  patterns: readonly string[],
  { query, where, read, missing }: SourceFlags & { readonly missing?: MissingPolicy },
  env: Console["env"],
  context: WorkContext = {},
): Promise<PatternRows> {
  const others = patterns.filter((own) => !isAddress(own));
  const asked = { query, where, read, missing, env };
  return {
    files: others.length === 0 ? [] : await inputFilesOfCommand(others),
    sources: patterns.filter(isAddress).map((address) => inputSourceAt(address, asked, context)),
  };
}

/** With what fedkm inspect would propose where nothing was typed. Of sources that is the scale, and a study says it all. */
export async function proposedFlags<T extends ProposedOptions & { readonly asIs?: boolean; readonly study?: unknown }>(
  typed: T,
  { files, sources }: PatternRows,
  context: WorkContext,
) {
  if (typed.asIs === true || typed.study !== undefined) return { flags: typed, decisions: undefined };
  if (sources.length > 0) {
    const flags: T = { ...typed, scale: typed.scale ?? "standard" };
    return { flags, decisions: typed.scale === undefined ? ["columns standardised"] : undefined };
  }
  const { options, decisions, first } = await proposeForFiles(files, typed, context);
  // What cannot be read is for the reader to refuse.
  const flags: T = first.length > 0 ? typed : { ...typed, ...options };
  return { flags, ...(decisions.length > 0 && first.length === 0 && { decisions }) };
}

/** With "-" as a file that holds the standard input, since rows are read more than once. */
export async function inputFilesOfCommand(patterns: readonly string[]): Promise<string[]> {
  if (!patterns.includes("-")) return expandPatterns(patterns);
  spooled ??= spool();
  const file = await spooled;
  return expandPatterns(patterns.map((pattern) => (pattern === "-" ? file : pattern)));
}

let spooled: Promise<string> | undefined;

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
