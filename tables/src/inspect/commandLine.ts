// The command line of fedkm fit, ready to be pasted: what follows from a look at files, or from a choice of k and alpha.

import type { Weighting } from "@fedkm/core";
import type { DialectOptions } from "@fedkm/files";
import { shellCharacterName, shellNames, shellWord } from "../shellWords.ts";
import type { ProposedOptions } from "./proposal.ts";

/** What is not said is what fedkm fit decides by itself. */
export function fitCommandLine(
  patterns: readonly string[],
  options: ProposedOptions & {
    readonly k?: number;
    readonly alpha?: number;
    readonly graph?: string;
    readonly weighting?: Weighting;
    readonly seed?: number;
    readonly asIs?: boolean;
  },
): string {
  const { columns, exclude, deviceColumn, categories, missing, scale, k, alpha, graph, weighting, seed, asIs } =
    options;
  const isOther = <T>(value: T | undefined, usual: T) => value !== undefined && value !== usual;
  return [
    "fedkm fit",
    ...patterns.map(fileWord),
    ...(k === undefined ? [] : [`--k ${k}`]),
    ...(alpha === undefined ? [] : [`--alpha ${alpha}`]),
    ...(asIs === true ? ["--as-is"] : []),
    ...(columns === undefined ? [] : [`--columns ${shellNames(columns)}`]),
    ...(exclude === undefined ? [] : [`--exclude ${shellNames(exclude)}`]),
    ...(deviceColumn === undefined ? [] : [`--device-column ${shellWord(deviceColumn)}`]),
    ...(categories === undefined
      ? []
      : [`--categories ${categories === "auto" ? categories : shellNames(categories)}`]),
    ...dialectWords(options),
    ...(missing === undefined || missing === "refuse" ? [] : [`--missing ${missing}`]),
    ...(isOther(graph, "complete") ? [`--graph ${shellWord(graph ?? "")}`] : []),
    ...(scale === undefined ? [] : [`--scale ${shellWord(scale)}`]),
    ...(isOther(weighting, "sample") ? [`--weighting ${weighting}`] : []),
    ...(isOther(seed, 1) ? [`--seed ${seed}`] : []),
  ].join(" ");
}

/** A name that begins with a dash would be taken for an option; a dash alone is the standard input. */
function fileWord(file: string): string {
  return shellWord(/^-./.test(file) ? `./${file}` : file);
}

/** How text is read, as it was asked for. */
function dialectWords(options: DialectOptions): string[] {
  const { delimiter, header, decimal, na, dates, encoding, sheet } = options;
  return [
    ...(delimiter === undefined ? [] : [`--delimiter ${shellWord(shellCharacterName(delimiter))}`]),
    ...(header === undefined ? [] : [`--header ${header ? "yes" : "no"}`]),
    ...(decimal === undefined ? [] : [`--decimal ${shellCharacterName(decimal)}`]),
    ...(na === undefined ? [] : [`--na ${shellNames(na)}`]),
    ...(dates === undefined ? [] : [`--dates ${dates}`]),
    ...(encoding === undefined ? [] : [`--encoding ${encoding}`]),
    ...(sheet === undefined ? [] : [`--sheet ${shellWord(sheet)}`]),
  ];
}
