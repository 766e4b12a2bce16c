// fedkm man: what can be asked of it.

import { Command } from "commander";
import type { Console } from "../../console.ts";

export function manCommand(io: Console): Command {
  const command = new Command("man")
    .description("Print the manual page of all commands, as man reads it.")
    .addHelpText("after", "\nExample:\n  fedkm man > fedkm.1");
  return command.action(async () => {
    const { manualPage } = await import("./page.ts");
    io.stdout.write(manualPage(command.parent ?? command));
  });
}
