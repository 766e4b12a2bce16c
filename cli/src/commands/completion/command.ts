// fedkm completion: its flags.

import { Argument, Command } from "commander";
import type { Console } from "../../console.ts";
import type { Shell } from "./scripts.ts";

export function completionCommand(io: Console): Command {
  const command = new Command("completion")
    .description("Print a script that completes fedkm's commands, options and their values in a shell.")
    .addArgument(new Argument("<shell>", "whose script").choices(["bash", "zsh", "fish", "powershell"]))
    .addHelpText("after", "\nExample:\n  fedkm completion bash > fedkm.bash");
  return command.action(async (shell: Shell) => {
    const { scripts, typedCommands } = await import("./scripts.ts");
    io.stdout.write(scripts[shell](typedCommands(command.parent ?? command)));
  });
}
