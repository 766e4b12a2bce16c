// Steps of long work in the words of the progress line.

import { statSync } from "node:fs";
import { basename } from "node:path";
import type { Progress as Step } from "@fedkm/tables";
import { countLabel, duration, significantLabel } from "./numbers.ts";
import { type ProgressLine, progressPercent, secondsLeft } from "./progress.ts";

/** Rounds that try further starts and say nothing about how long the others take. */
const OPENING_ROUNDS = 2;

/** A function that is told of every step, and says how far all of them are. `files` are those that will be read. */
export function progressWatch(progress: ProgressLine, files: readonly string[] = [], now = () => performance.now()) {
  const sizes = files.map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const began = now();
  let firstRound = began;
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
    else if (step.step === "simulate")
      progress.show(`fedkm  ${duration(step.milliseconds)}  objective ${significantLabel(step.objective, 4)}`);
    else progress.announce(`fedkm  ${announcement(step)}`);
  };
}

function announcement(step: Exclude<Step, { step: "read" | "round" | "simulate" }>): string {
  if (step.step === "retry") return `reading ${step.name}, which is away, again`;
  if (step.step === "fit") return `${step.method} on ${step.devices} devices`;
  if (step.step === "choose") return "trying k from 1 on, then alpha";
  if (step.step === "certify") return "certifying the result";
  if (step.pass === undefined) return "a pass over all rows";
  return `pass ${step.pass} over all rows  objective ${significantLabel(step.objective ?? 0, 4)}`;
}
