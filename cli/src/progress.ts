// Lines on a terminal that are painted over: one that says how far the work is and leaves no trace, or a table.

import type { Console, Output } from "./console.ts";

export interface ProgressLine {
  /** Replaces the line, unless it was replaced a moment ago: writing must not cost more than the work. */
  show(text: string): void;
  /** Replaces the line for what comes next. */
  announce(text: string): void;
  erase(): void;
}

const BETWEEN_MILLISECONDS = 50;
const ERASE_LINE = "\r\u001b[K";

/** Silent where nobody looks on. */
export function progressOn(output: Output, now: () => number = () => performance.now()): ProgressLine {
  if (output.isTTY !== true) return { show: () => {}, announce: () => {}, erase: () => {} };
  let written = Number.NEGATIVE_INFINITY;
  const announce = (text: string) => {
    written = now();
    output.write(ERASE_LINE + text);
  };
  return {
    show(text) {
      if (now() - written >= BETWEEN_MILLISECONDS) announce(text);
    },
    announce,
    erase() {
      output.write(ERASE_LINE);
    },
  };
}

/** Work with such a line on the error output, which is gone when the work ends, however it ends. */
export async function withProgress<T>(
  { stderr }: Pick<Console, "stderr">,
  work: (progress: ProgressLine) => Promise<T>,
): Promise<T> {
  const progress = progressOn(stderr);
  try {
    return await work(progress);
  } finally {
    progress.erase();
  }
}

/** A part of the work as a bar of so many characters. */
export function progressBar(share: number, width: number): string {
  return "#".repeat(Math.round(width * share)).padEnd(width, ".");
}

/** Seconds are said once they can be known. */
const FIRST_GUESS_MILLISECONDS = 1000;

/** The whole seconds that are left where a share of the work took so many milliseconds; undefined while nobody knows. */
export function secondsLeft(passed: number, share: number): number | undefined {
  if (passed < FIRST_GUESS_MILLISECONDS || !(share > 0)) return undefined;
  return Math.ceil((passed * (1 - share)) / share / 1000);
}

/** A part of the work as people read it. */
export function progressPercent(share: number, passed: number): string {
  const left = secondsLeft(passed, share);
  return `${Math.floor(100 * share)} %${left === undefined ? "" : `, ${left} s left`}`;
}

/** Writes the lines over those of the last call, `last` in number; returns how many there are now. */
export function repaintProgressLines(output: Output, lines: readonly string[], last: number): number {
  const up = output.isTTY === true && last > 0 ? `\u001b[${last}A` : "";
  const [clear, clearBelow] = output.isTTY === true ? ["\u001b[K", "\u001b[J"] : ["", ""];
  output.write(`${up}${lines.map((line) => `${clear}${line}\n`).join("")}${clearBelow}`);
  return lines.length;
}
