// Options of the commands that write labelled files.

import { type LabelFormat, labelFormats } from "@fedkm/files/light";
import type { Command } from "commander";
import { parseChoice } from "../arguments.ts";

export interface LabelFlags {
  labelsAs?: LabelFormat;
  distances?: true;
}

export function addLabelOptions(command: Command): Command {
  return command
    .option(
      "--labels-as <format>",
      "labelled files as csv, jsonl, parquet or xlsx (default: each as its file)",
      parseChoice("--labels-as", labelFormats),
    )
    .option(
      "--distances",
      "add each row's distance to its centroid, its margin to the next one, and whether it is far",
    );
}
