// The command line of fedkm fit that follows from a choice: the same rows, scaling and links, quoted for the shell.

import type { Weighting } from "@fedkm/core";
import type { PrepareOptions } from "../../../../tables/src/prepare/prepare.ts";
import { defaultWeighting } from "../../input/options.ts";
import { asArgument, dialectWords, inShell } from "../../input/remedies.ts";

export function fitCommandLine(
  patterns: readonly string[],
  options: PrepareOptions & { readonly weighting: Weighting },
  { k, alpha }: { readonly k: number; readonly alpha: number },
): string {
  const { columns, exclude, deviceColumn, categories, missing, graph, scale, weighting, seed } = options;
  const words = ["fedkm fit", ...patterns.map(fileWord), `--k ${k} --alpha ${alpha}`];
  if (columns !== undefined) words.push(`--columns ${asArgument(columns)}`);
  if (exclude !== undefined) words.push(`--exclude ${asArgument(exclude)}`);
  if (deviceColumn !== undefined) words.push(`--device-column ${inShell(deviceColumn)}`);
  if (categories !== undefined) {
    words.push(`--categories ${categories === "auto" ? categories : asArgument(categories)}`);
  }
  words.push(...dialectWords(options));
  // What is not said otherwise is the same in both commands.
  if (missing !== "refuse") words.push(`--missing ${missing}`);
  if (graph !== "complete") words.push(`--graph ${inShell(graph)}`);
  if (scale !== "none") words.push(`--scale ${inShell(scale)}`);
  if (weighting !== defaultWeighting) words.push(`--weighting ${weighting}`);
  if (seed !== 1) words.push(`--seed ${seed}`);
  return words.join(" ");
}

/** A name that begins with a dash would be taken for an option. */
function fileWord(pattern: string): string {
  return inShell(pattern.startsWith("-") ? `./${pattern}` : pattern);
}
