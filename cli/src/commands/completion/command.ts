// fedkm completion: what can be asked of it.

import { Argument, Command } from "commander";
import type { Console } from "../../console.ts";

export function completionCommand(io: Console): Command {
  const command = new Command("completion")
    .description("Print a script that completes fedkm's commands and options in a shell.")
    .addArgument(new Argument("<shell>", "whose script").choices(["bash", "zsh", "fish"]))
    .addHelpText("after", "\nExample:\n  fedkm completion bash > fedkm.bash");
  return command.action(async (shell: "bash" | "zsh" | "fish") => {
    const { completionScript } = await import("./script.ts");
    io.stdout.write(completionScript(command.parent ?? command, shell));
  });
}
