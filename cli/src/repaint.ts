// Lines in a terminal that are painted over again and again.

import type { Output } from "./console.ts";

/** Writes the lines over those of the last call, `last` in number; returns how many there are now. */
export function repaint(output: Output, lines: readonly string[], last: number): number {
  const up = output.isTTY === true && last > 0 ? `\u001b[${last}A` : "";
  const [clear, clearBelow] = output.isTTY === true ? ["\u001b[K", "\u001b[J"] : ["", ""];
  output.write(`${up}${lines.map((line) => `${clear}${line}\n`).join("")}${clearBelow}`);
  return lines.length;
}
