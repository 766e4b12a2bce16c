// How things are measured and printed: CPU time, best of several, ratios, peak memory, tables, a line of progress.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** An empty folder that is gone when this process ends, however it ends. */
export function scratchFolder(section: string): string {
  const folder = mkdtempSync(join(tmpdir(), `fedkm-${section}-`));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));
  return folder;
}

/** Aligned columns under a title, the first row as the head. */
export function print(title: string, rows: readonly (readonly string[])[]): void {
  const widths = rows[0].map((_, c) => Math.max(...rows.map((row) => row[c].length)));
  const lines = rows.map((row) => row.map((cell, c) => cell.padEnd(widths[c])).join("  "));
  console.log([`\n${title}`, ...lines.map((line) => `  ${line.trimEnd()}`)].join("\n"));
}

/** Says which bar is held or missed, and returns whether it is held. */
export function isHeld(bar: string, missed: readonly string[]): boolean {
  console.log(missed.length === 0 ? `  ${bar}: held` : `  ${bar}: missed by ${missed.join(", ")}`);
  return missed.length === 0;
}

/** CPU seconds of the fastest of several runs: other work on the machine disturbs it least. */
export function cpuSeconds(times: number, run: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let t = 0; t < times; t++) best = Math.min(best, cpuSecondsOnce(run));
  return best;
}

/** The same, but no run begins once `budget` seconds are spent. */
export function cpuSecondsWithin(budget: number, times: number, run: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let t = 0, spent = 0; t < times && spent < budget; t++) {
    const seconds = cpuSecondsOnce(run);
    best = Math.min(best, seconds);
    spent += seconds;
  }
  return best;
}

function cpuSecondsOnce(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** How many times `of` the value is, to two digits, small ones without an exponent. */
export function ratio(value: number, of: number): string {
  const quotient = value / of;
  return quotient >= 100 ? quotient.toFixed(0) : String(Number(quotient.toPrecision(2)));
}

/** The median, of an even number the mean of both in the middle, as papers have it. */
export function middleOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 0 ? (sorted[half - 1] + sorted[half]) / 2 : sorted[half];
}

/** Bytes of memory that this process held at once, at most. */
export function peakMemory(): number {
  try {
    const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    if (kilobytes !== undefined) return 1024 * Number(kilobytes);
  } catch {
    // Not Linux.
  }
  // On Linux this one would start from what the parent held when it started us.
  return 1024 * process.resourceUsage().maxRSS;
}

/** What is being measured, for whoever waits in front of a terminal. An empty text wipes the line. */
export function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}
