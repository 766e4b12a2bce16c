// fedkm verify: what can be asked of it.

import { Command } from "commander";
import type { Console } from "../../console.ts";
import { addDialectOptions } from "../../input/options.ts";
import type { VerifyFlags } from "./verify.ts";

export function verifyCommand(io: Console): Command {
  const command = new Command("verify")
    .description(
      "Check that a model is what its files and its options give: devices, scale, objective, a fixed point; or that the evidence of a device is whole and signed.",
    )
    .argument("<model.json>", "a model that fedkm fit wrote, or evidence.zip that fedkm device evidence wrote")
    .argument("[files...]", "the files that it was fitted to; patterns such as 'sites/*.csv'")
    .option("--device-column <name>", "the column that names each row's device, if fit was given one");
  return addDialectOptions(command)
    .option("--json", "print what was found as one JSON object")
    .addHelpText(
      "after",
      "\nThe exit code is 0 if it is verified, and 1 with the reason if it is not.\n" +
        "\nExample:\n  fedkm verify clusters/model.json examples/north.csv examples/south.csv",
    )
    .action(async (model: string, files: string[], flags: VerifyFlags) =>
      (await import("./verify.ts")).runVerifyCommand(model, files, flags, io),
    );
}
