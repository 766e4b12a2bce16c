// What fedkm compare was asked for, as its flags say it.

import type { CommonStart } from "@fedkm/experiments";
import type { DatasetName } from "./data.ts";
import type { FileOptions } from "./files.ts";

export interface CompareOptions extends FileOptions {
  readonly dataset: DatasetName;
  /** Files, instead of `dataset`. */
  readonly data?: readonly string[];
  readonly methods?: readonly string[];
  readonly init: CommonStart;
  /** As typed: method.option=value. */
  readonly set: readonly string[];
  readonly messages?: number;
  readonly points: number;
  readonly k?: number;
  readonly alpha: number;
  readonly graph: string;
  /** A table of methods by splits, instead of one comparison. */
  readonly grid?: "heterogeneity";
  /** Of the grid: seeds of which it takes the mean. */
  readonly runs: number;
  /** The picture's file. */
  readonly out: string;
  readonly json?: true;
}
