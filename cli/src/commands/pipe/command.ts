// fedkm pipe: what can be asked of it, which is nothing but its standard input.

import { Command } from "commander";
import type { Console } from "../../console.ts";

export function pipeCommand(io: Console): Command {
  return new Command("pipe")
    .description("Answer programs in other languages: frames on standard input, answers on standard output.")
    .addHelpText("after", "\nThe Python package speaks to it; docs/python.md has the frames to the byte.")
    .action(async () => (await import("./pipe.ts")).runPipeCommand(io));
}
