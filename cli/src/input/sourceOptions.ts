// Options of sources. They load nothing that computes, because every --help loads them.

import type { ReadMode } from "@fedkm/sql";
import type { Command } from "commander";
import { parseChoice } from "../arguments.ts";

/** What is asked of sources alone. */
export interface SourceOptions {
  /** A SELECT in the place of a table. */
  readonly query?: string;
  /** A condition in SQL. */
  readonly where?: string;
  readonly read?: ReadMode;
}

export function addSourceOptions(command: Command): Command {
  return command
    .option("--query <select>", "of a source: a SELECT in the place of its table")
    .option("--where <condition>", "of sources: the rows for which this SQL is true")
    .option(
      "--read <name>",
      "of sources: memory, stream or aggregate (default: files are loaded where they fit, servers aggregate)",
      parseChoice<ReadMode>("--read", ["memory", "stream", "aggregate"]),
    );
}
