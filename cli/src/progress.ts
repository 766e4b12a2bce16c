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
