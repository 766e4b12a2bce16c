// One line on a terminal that says how far the work is, and leaves no trace.

import type { Output } from "./console.ts";

export interface Progress {
  /** Replaces the line, unless it was replaced a moment ago: writing must not cost more than the work. */
  show(text: string): void;
  /** Replaces the line for what comes next. */
  announce(text: string): void;
  erase(): void;
}

const BETWEEN_MILLISECONDS = 50;
const ERASE_LINE = "\r\u001b[K";

/** Silent where nobody looks on. */
export function progressOn(output: Output, now: () => number = () => performance.now()): Progress {
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

/** Seconds are said once they can be known. */
const FIRST_GUESS_MILLISECONDS = 1000;

/** The whole seconds that are left where a share of the work took so many milliseconds; undefined while nobody knows. */
export function secondsLeft(passed: number, share: number): number | undefined {
  if (passed < FIRST_GUESS_MILLISECONDS || !(share > 0)) return undefined;
  return Math.ceil((passed * (1 - share)) / share / 1000);
}

/** A part of the work as people read it. */
export function percentText(share: number, passed: number): string {
  const left = secondsLeft(passed, share);
  return `${Math.floor(100 * share)} %${left === undefined ? "" : `, ${left} s left`}`;
}
