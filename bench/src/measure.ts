// How things are measured and said: CPU time, best of several, ratios, peak memory, a line of progress.

import { readFileSync } from "node:fs";

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
