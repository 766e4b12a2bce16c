// audit.jsonl: what happened to a device's links, keys and data over the years, one JSON object a line. Each line carries
// the SHA-256 of the line before it, so that a line that was changed, removed or put in breaks the chain.

import { createHash } from "node:crypto";
import { open, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { printable } from "@fedkm/files/printable";
import { realDisk } from "./disk.ts";
import { withFileMutex } from "./fileMutex.ts";

export const AUDIT_FILE = "audit.jsonl";

/** A file that is longer, or of an earlier year, is set aside, and the chain goes on in a new one. */
const LARGEST_FILE_BYTES = 10_000_000;

/** No line is longer, so that the last one is found in so many bytes at the end. */
const LONGEST_LINE_BYTES = 4_096;

/** What the first line of all has before it. */
const NOTHING_BEFORE = "0".repeat(64);

/**
 * `started` and `stopped`: the device; `linked`, `accepted`, `unlinked`: a command changed links, and `links`: a running
 * device uses others than before; `refused`: frames or strangers; `rotating`, `rotated`, `followed`: a new key is made,
 * used, or known here; `revoked`: a revocation was made or heard; `admitted` and `removed`: its owner spoke for or against
 * a member; `approved`: of what was found out for an open study; `reset`; `paused` and `resumed`; `study`: another one than at the last start; `data`: rows were read;
 * `released`: what was made of them left the device for the first time; `added`: what its rows added to the sums of a
 * stage; `sent`: frames of a kind, to a neighbour; `lost`: so many events could not be written.
 */
export type AuditEvent =
  | "started"
  | "stopped"
  | "linked"
  | "accepted"
  | "unlinked"
  | "links"
  | "approved"
  | "refused"
  | "rotating"
  | "rotated"
  | "followed"
  | "revoked"
  | "admitted"
  | "removed"
  | "reset"
  | "paused"
  | "resumed"
  | "study"
  | "data"
  | "released"
  | "added"
  | "sent"
  | "lost";

/** Counts, names, ids, hashes and reasons; never data. */
export type AuditFields = Readonly<Record<string, string | number | readonly string[] | null>>;

export interface AuditEntry {
  readonly at: Date;
  readonly event: AuditEvent;
  readonly fields: AuditFields;
}

/** Adds lines that survive a loss of power. Commands and a running device take turns. */
export async function appendAudit(folder: string, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await withFileMutex(join(folder, "audit.lock"), async () => {
    const path = join(folder, AUDIT_FILE);
    const aside = await filesAside(folder);
    const end = await logEnd(path);
    // After a crash between two files the chain goes on from the one before.
    const previous = end ?? (aside.length > 0 ? await logEnd(join(folder, aside[aside.length - 1])) : undefined);
    const isFull = end !== undefined && (end.bytes > LARGEST_FILE_BYTES || isEarlierYear(end.lastAt, entries[0].at));
    if (isFull) await rename(path, join(folder, `audit-${String(aside.length + 1).padStart(4, "0")}.jsonl`));
    let before = previous?.hash ?? NOTHING_BEFORE;
    const lines = entries.map(({ at, event, fields }) => {
      const line = lineOf(at, event, fields, before);
      before = auditLineHash(line);
      return line;
    });
    // What a crash cut off in the middle of a line stays as it is, as a line of its own.
    await addTo(path, `${end?.isCut === true && !isFull ? "\n" : ""}${lines.join("\n")}\n`);
    await realDisk.syncFolder(folder);
  });
}

async function addTo(path: string, text: string): Promise<void> {
  const file = await open(path, "a", 0o600);
  try {
    await file.appendFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

function lineOf(at: Date, event: AuditEvent, fields: AuditFields, before: string): string {
  const clean = (value: AuditFields[string]) => (typeof value === "string" ? printable(value).slice(0, 300) : value);
  const line = (content: object) => JSON.stringify({ at: at.toISOString(), event, ...content, before });
  const whole = line(Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, clean(value)])));
  return Buffer.byteLength(whole) < LONGEST_LINE_BYTES ? whole : line({ shortened: Object.keys(fields).join(" ") });
}

/** How long the log is, with the hash and the time of its last line. Undefined: there is no such file, or nothing in it. */
async function logEnd(path: string) {
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    if (size === 0) return undefined;
    const length = Math.min(size, 2 * LONGEST_LINE_BYTES);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
    const text = buffer.toString();
    const last = text.replace(/\n$/, "").split("\n").at(-1) ?? "";
    return { bytes: size, hash: auditLineHash(last), isCut: !text.endsWith("\n"), lastAt: parsedLine(last)?.at };
  } finally {
    await file.close();
  }
}

/** The files that were set aside, the oldest first. */
async function filesAside(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => /^audit-\d+\.jsonl$/.test(name)).sort();
}

/** The hash by which the next line of an audit log follows this one. */
export const auditLineHash = (line: string) => createHash("sha256").update(line).digest("hex");
const isEarlierYear = (last: string | undefined, now: Date) =>
  last !== undefined && new Date(last).getUTCFullYear() < now.getUTCFullYear();

/** A line of the audit log. */
export interface AuditLine {
  readonly at: string;
  readonly event: string;
  readonly before: string;
  readonly [field: string]: unknown;
}

function parsedLine(line: string): AuditLine | undefined {
  try {
    const value: AuditLine = JSON.parse(line);
    return typeof value.at === "string" && typeof value.event === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What a reader finds in an audit log. */
export interface AuditReport {
  readonly lines: readonly AuditLine[];
  /** All of them as they were written, also those that are cut. */
  readonly raw: readonly string[];
  /** Lines that are not whole, because a crash cut them off. The chain goes on after them. */
  readonly cut: number;
  /** The first line that does not follow the one before it; undefined: the chain is whole. */
  readonly broken: { readonly file: string; readonly line: number } | undefined;
  /** The hash of the last line: whoever keeps it elsewhere can tell later whether the end was taken away. */
  readonly last: string;
}

/** The facts of a line, each with its name. */
export function auditLogFacts({ at, event, before, ...fields }: AuditLine): string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const text = Array.isArray(value) ? value.join(" ") : String(value);
    return value === null || text === "" ? [] : [`${name} ${text}`];
  });
}

/** Reads all files of a device's log, the oldest first. */
export async function readAudit(folder: string): Promise<AuditReport> {
  const lines: AuditLine[] = [];
  const raw: string[] = [];
  let cut = 0;
  let broken: AuditReport["broken"];
  let before = NOTHING_BEFORE;
  for (const file of [...(await filesAside(folder)), AUDIT_FILE]) {
    const found = new TextDecoder().decode(await realDisk.read(join(folder, file))).split("\n");
    if (found.at(-1) === "") found.pop();
    raw.push(...found);
    for (const [index, line] of found.entries()) {
      const entry = parsedLine(line);
      if (entry === undefined) cut += 1;
      else lines.push(entry);
      // A line that is cut off cannot say what was before it; the one after it can say that it was.
      if (entry !== undefined && entry.before !== before) broken ??= { file, line: index + 1 };
      before = auditLineHash(line);
    }
  }
  return { lines, raw, cut, broken, last: before };
}
