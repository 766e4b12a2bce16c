// Files to measure readers and fit with: clusters of normal points, written with all their digits.

import { closeSync, openSync, writeSync } from "node:fs";
import { normalStream, randomStream } from "@fedkm/core";

/** A CSV file of `rows` points in `cols` columns around 16 centres, the next of which is so far in every column. */
export function writeRows(file: string, rows: number, cols: number, seed: number, spacing = 3): void {
  const normal = normalStream(randomStream(seed, "rows"));
  const out = openSync(file, "w");
  let text = `${Array.from({ length: cols }, (_, c) => `c${c}`).join(",")}\n`;
  for (let r = 0; r < rows; r++) {
    const centre = spacing * (r % 16);
    for (let c = 0; c < cols; c++) text += `${centre + normal() * (1 + (c % 3))}${c === cols - 1 ? "\n" : ","}`;
    if (text.length > 2 ** 20 || r === rows - 1) {
      writeSync(out, text);
      text = "";
    }
  }
  closeSync(out);
}
