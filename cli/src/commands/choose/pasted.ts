// The command line of fedkm fit that follows from a choice: the same rows, scaling and links, quoted for the shell.

import type { Weighting } from "@fedkm/core";
import type { PrepareRequest } from "@fedkm/tables";
import { shellNames, shellWord } from "@fedkm/tables/light";
import { dialectWords } from "../../input/dialectWords.ts";

export function fitCommandLine(
  patterns: readonly string[],
  options: Omit<PrepareRequest, "graph"> & {
    readonly graph: string;
    readonly scale: string;
    readonly weighting: Weighting;
  },
  { k, alpha }: { readonly k: number; readonly alpha: number },
): string {
  const { columns, exclude, deviceColumn, categories, missing, graph, scale, weighting, seed } = options;
  const words = ["fedkm fit", ...patterns.map(fileWord), `--k ${k} --alpha ${alpha}`];
  if (columns !== undefined) words.push(`--columns ${shellNames(columns)}`);
  if (exclude !== undefined) words.push(`--exclude ${shellNames(exclude)}`);
  if (deviceColumn !== undefined) words.push(`--device-column ${shellWord(deviceColumn)}`);
  if (categories !== undefined) {
    words.push(`--categories ${categories === "auto" ? categories : shellNames(categories)}`);
  }
  words.push(...dialectWords(options));
  // What is not said otherwise is the same in both commands.
  if (missing !== undefined && missing !== "refuse") words.push(`--missing ${missing}`);
  if (graph !== "complete") words.push(`--graph ${shellWord(graph)}`);
  if (scale !== "none") words.push(`--scale ${shellWord(scale)}`);
  if (weighting !== "sample") words.push(`--weighting ${weighting}`);
  if (seed !== 1) words.push(`--seed ${seed}`);
  return words.join(" ");
}

/** A name that begins with a dash would be taken for an option. */
function fileWord(pattern: string): string {
  return shellWord(pattern.startsWith("-") ? `./${pattern}` : pattern);
}
