// fedkm device log: what happened to the device's links, keys and data, and whether that list is whole.

import { type AuditLine, type AuditReport, readAudit, readFolder } from "@fedkm/device/daemon";
import { printable } from "@fedkm/device/printable";
import type { Console } from "../../console.ts";
import { auditFacts } from "../../devices/audit.ts";
import { UsageError } from "../../failure.ts";

export interface LogOptions {
  readonly state: string;
  readonly json?: boolean;
  readonly since?: string;
}

export async function showLog({ state, json, since }: LogOptions, { stdout }: Console): Promise<void> {
  const from = since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since);
  if (Number.isNaN(from)) throw new UsageError(`--since must be a date such as 2026-11-16, got "${since}"`);
  await readFolder(state);
  const report = await readAudit(state);
  const lines = report.lines.filter(({ at }) => Date.parse(at) >= from);
  const { broken, cut, last } = report;
  if (json)
    stdout.write(
      `${JSON.stringify({ isWhole: broken === undefined, broken: broken ?? null, cut, last, lines }, undefined, 2)}\n`,
    );
  else stdout.write(`${[...lines.map(sentence), "", verdict(report)].map(printable).join("\n")}\n`);
  if (broken !== undefined) {
    throw new Error(`${state}/${broken.file}, line ${broken.line} must follow the line before it, got a broken chain`);
  }
}

function sentence(line: AuditLine): string {
  const facts = auditFacts(line);
  return [`${line.at}  ${line.event}`, ...(facts.length > 0 ? [facts.join(", ")] : [])].join("  ");
}

function verdict({ lines, cut, broken, last }: AuditReport): string {
  if (broken !== undefined) return `the chain is broken at line ${broken.line} of ${broken.file}`;
  const pieces = cut === 0 ? "" : `, ${cut} of them cut off by a crash`;
  return `${lines.length + cut} lines in one whole chain${pieces}, which ends in ${last}`;
}
