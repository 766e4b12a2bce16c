// fedkm audit: its flags.

import { Command } from "commander";
import { parseChoice, parseSeed, parseWhole } from "../../arguments.ts";
import type { Console } from "../../console.ts";
import type { AuditFlags } from "./audit.ts";

const HELP = `
It plays the neighbours of a device and computes what they can from what the device sends. Then it compares that with
the device's rows and counts what is right. The table has a row for each attack, with the worst that was learnt.

  tried        networks in which the attack was tried
  means found  networks in which the means and sizes of a device's clusters were found
  rows found   networks in which a single row of the data was found

What the modes promise: "open" promises nothing. Neighbours can compute cluster means, sizes and, over time, single rows,
so use it for data that may be public. "guarded" promises that no sum or difference of anything a device ever sends tells
apart fewer rows than the study's minimum. Means and sizes of clusters remain visible, and it is not differential
privacy. "private" is: whoever knows all other rows learns little about one, as epsilon says. See docs/privacy.md.

The exit code is 0 when the audit ran, whatever it found: read the verdict, or --json.

Examples:
  fedkm audit --privacy open --runs 20
  fedkm audit --study study.yaml --data north.csv south.csv east.csv --out audit.html
  fedkm device run --state north --record north.jsonl
  fedkm audit north.jsonl --state north`;

export function auditCommand(io: Console): Command {
  return new Command("audit")
    .description("Attack a simulated network, or a recording of your own device, and say what neighbours can learn.")
    .argument("[recording.jsonl]", "attack this recording of fedkm device run instead of networks; needs --state")
    .option("--study <file.yaml>", "the study of the devices (default: one with k 3 and two features)")
    .option("--data <files...>", "files of rows, one for each device (default: rows are drawn for each network)")
    .option(
      "--privacy <mode>",
      "open, guarded or private (default: that of the study)",
      parseChoice("--privacy", ["open", "guarded", "private"]),
    )
    .option("--runs <integer>", "how many networks to attack", parseWhole("--runs", 1, 100_000), 200)
    .option("--seed <integer>", "of everything random", parseSeed, 1)
    .option("--state <folder>", "the folder of the recorded device, whose rows say what is right")
    .option("--out <file.html>", "where the answer goes as a page (default: nowhere)")
    .option("--json", "print the answer as one JSON object instead of a table")
    .addHelpText("after", HELP)
    .action(async (recording: string | undefined, flags: AuditFlags) =>
      (await import("./audit.ts")).runAuditCommand(recording, flags, io),
    );
}
