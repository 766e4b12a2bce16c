// Lines on a terminal that are painted over: one that says how far the work is and leaves no trace, or a table.

import { statSync } from "node:fs";
import { basename } from "node:path";
import { duration } from "@fedkm/pictures/terminal";
import type { Progress as Step } from "@fedkm/tables";
import { countLabel, significantLabel } from "@fedkm/tables/numbers";
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
function secondsLeft(passed: number, share: number): number | undefined {
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

// Steps of long work in the words of the progress line.

/** Rounds that try further starts and say nothing about how long the others take. */
const OPENING_ROUNDS = 2;

/** A function that is told of every step, and says how far all of them are. `files` are those that will be read. */
export function progressWatch(progress: ProgressLine, files: readonly string[] = [], now = () => performance.now()) {
  const sizes = files.map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const began = now();
  let firstRound = began;
  let firstLabel: number | undefined;
  const readingText = ({ name, bytes, rows }: Extract<Step, { step: "read" }>): string => {
    if (rows !== undefined) return `${name}, ${countLabel(rows)} rows`;
    const at = files.indexOf(name);
    if (at < 0) return name;
    if (bytes === undefined) return basename(name);
    const before = sizes.slice(0, at).reduce((sum, size) => sum + size, 0);
    const share = (before + Math.min(bytes, sizes[at])) / total;
    return `${basename(name)}  ${progressPercent(share, now() - began)}`;
  };
  const roundText = ({ round, most, objective }: Extract<Step, { step: "round" }>): string => {
    if (round <= OPENING_ROUNDS) firstRound = now();
    const share = (round - OPENING_ROUNDS) / (most - OPENING_ROUNDS);
    const left = secondsLeft(now() - firstRound, share);
    const guess = left === undefined ? "" : `  at most ${left} s left`;
    return `round ${round} of at most ${most}  objective ${significantLabel(objective, 4)}${guess}`;
  };
  return (step: Step): void => {
    if (step.step === "read") progress.show(`fedkm  reading ${readingText(step)}`);
    else if (step.step === "round") progress.show(`fedkm  ${roundText(step)}`);
    else if (step.step === "label") {
      firstLabel ??= now();
      progress.show(`fedkm  labels ${progressPercent(step.share, now() - firstLabel)}  ${step.name}`);
    } else if (step.step === "simulate")
      progress.show(`fedkm  ${duration(step.milliseconds)}  objective ${significantLabel(step.objective, 4)}`);
    else progress.announce(`fedkm  ${announcement(step)}`);
  };
}

function announcement(step: Exclude<Step, { step: "read" | "round" | "label" | "simulate" }>): string {
  if (step.step === "retry") return `reading ${step.name}, which is away, again`;
  if (step.step === "fit") return `${step.method} on ${step.devices} devices`;
  if (step.step === "choose") return "trying k from 1 on";
  if (step.step === "report") return "writing the report";
  if (step.step === "certify") return "certifying the result";
  if (step.pass === undefined) return "a pass over all rows";
  return `pass ${step.pass} over all rows  objective ${significantLabel(step.objective ?? 0, 4)}`;
}
