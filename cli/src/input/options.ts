// Options of every command that reads files of rows. They load nothing that computes, because every --help loads them.

import type { Selection } from "@fedkm/files";
import { dateRules, labelFormats, type TextEncoding, textEncodings } from "@fedkm/files/light";
import type { Command } from "commander";
import { parseChoice } from "../arguments.ts";
import { UsageError } from "../failure.ts";
import { parseCharacterArgument, parseNames } from "../listArguments.ts";

/** What is asked of sources alone. */
export interface SourceFlags {
  readonly query?: string;
  readonly where?: string;
  readonly read?: "memory" | "stream" | "aggregate";
}

export function addSourceOptions(command: Command): Command {
  return command
    .option("--query <select>", "of a source: a SELECT instead of its table")
    .option("--where <condition>", "of sources: the rows for which this SQL is true")
    .option(
      "--read <name>",
      "of sources: memory, stream or aggregate (default: files are loaded where they fit, servers aggregate)",
      parseChoice("--read", ["memory", "stream", "aggregate"]),
    );
}

export function addLabelOptions(command: Command, more: readonly "none"[] = []): Command {
  return command
    .option(
      "--labels-as <format>",
      `labelled files as ${[...labelFormats, ...more].join(", ")} (default: each as its file)`,
      parseChoice("--labels-as", [...labelFormats, ...more]),
    )
    .option(
      "--distances",
      "add each row's distance to its centroid, its margin to the next one, and whether it is far",
    );
}

export function addSelectionOptions(command: Command): Command {
  return command
    .option("--columns <names>", "cluster these columns only, with commas between", parseNames)
    .option("--exclude <names>", "cluster all columns but these", parseNames)
    .option("--device-column <name>", "the column that names each row's device (default: one file per device)")
    .option(
      "--categories <auto|names>",
      "columns of words that count as categories: these, or auto for all of them",
      parseCategories,
    );
}

function parseCategories(text: string): "auto" | string[] {
  return text === "auto" ? "auto" : parseNames(text);
}

/** How text is read. */
export function addDialectOptions(command: Command): Command {
  return command
    .option(
      "--delimiter <character>",
      "one character, or comma, semicolon, tab, bar or space (default: seen from the file)",
      parseCharacterArgument("--delimiter"),
    )
    .option("--header <yes|no>", "whether the first line names the columns (default: seen)", parseHeader)
    .option(
      "--decimal <comma|point>",
      "what stands before decimals where 1,234 may mean two things (default: seen)",
      parseDecimal,
    )
    .option("--na <values>", "further values that mean that nothing is known, such as -200,999", parseNames)
    .option(
      "--dates <name>",
      "take dates as numbers, days since 1970: days, or day-first or month-first where 3/1/2026 may mean two",
      parseChoice("--dates", dateRules),
    )
    .option("--encoding <name>", "of text that is not UTF-8: latin1 or utf16", parseEncoding)
    .option(
      "--sheet <name>",
      "of a workbook, archive or .npz file, by name or number from 1, or all (default: the first table)",
    );
}

const parseEncoding = parseChoice("--encoding", Object.keys(textEncodings) as TextEncoding[]);

const parseYesOrNo = parseChoice("--header", ["yes", "no"]);
const parseHeader = Object.assign((text: string) => parseYesOrNo(text) === "yes", parseYesOrNo);

const decimals = { comma: ",", point: "." } as const;
const parseDecimalName = parseChoice("--decimal", Object.keys(decimals) as (keyof typeof decimals)[]);
const parseDecimal = Object.assign((text: string) => decimals[parseDecimalName(text)], parseDecimalName);

export const parseWeighting = parseChoice("--weighting", ["device", "sample"]);

/** How devices are linked and columns are scaled. */
export function addGraphAndScaleOptions(command: Command): Command {
  return command
    .option(
      "--graph <spec>",
      "complete, ring, er:P, knn:K, or a file of links; alike:SPEC leaves out links between devices whose clusters differ",
      "complete",
    )
    .option(
      "--scale <spec>",
      "none, standard, robust, minmax, rank, log:COLUMNS or bounds:FILE (default: by the units)",
    );
}

export function addMissingOption(command: Command): Command {
  const parse = parseChoice("--missing", ["refuse", "drop", "mean"]);
  return command.option("--missing <policy>", "missing cells: refuse, drop their rows, or fill with the mean", parse);
}

export function checkSelection({ columns, exclude }: Selection): void {
  if (columns === undefined || exclude === undefined) return;
  throw new UsageError(
    "--columns cannot be used with --exclude: name the columns that are wanted, or those that are not",
  );
}
