// fedkm playground: the page in which devices, links and alpha can be changed and watched, served to this machine.

import { Command } from "commander";
import { parseWhole } from "../../arguments.ts";
import type { Console } from "../../console.ts";

export function playgroundCommand(io: Console): Command {
  return new Command("playground")
    .description(
      "Serve a page on this machine in which devices, links and alpha can be changed and watched, until Ctrl-C.",
    )
    .argument(
      "[state]",
      "what the page shows: the part of its address behind #, as reports and the page itself give it",
      "",
    )
    .option(
      "--port <port>",
      "where the page is served on 127.0.0.1; 0 takes a free port",
      parseWhole("--port", 0, 65_535),
      0,
    )
    .addHelpText("after", "\nExamples:\n  fedkm playground --port 8080\n  fedkm playground 'data=aniso&alpha=5'")
    .action(async (state: string, { port }: { port: number }) => {
      const [{ unreadSetupSettings }, { servePagesUntilStopped }, { UsageError }] = await Promise.all([
        import("@fedkm/web"),
        import("../../pages.ts"),
        import("../../failure.ts"),
      ]);
      const shown = state.replace(/^#/, "");
      // The page leaves out what it cannot read; a command says so.
      const unread = unreadSetupSettings(shown).map((setting) => `"${setting}"`);
      if (unread.length > 0)
        throw new UsageError(`state must hold settings of the playground, got ${unread.join(", ")}`);
      const path = `playground.html${shown === "" ? "" : `#${shown}`}`;
      const words = "The playground is served to this machine, at / with an article that explains the method.";
      await servePagesUntilStopped(io, port, path, words);
    });
}
