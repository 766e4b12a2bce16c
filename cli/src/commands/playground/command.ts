// fedkm playground: what can be asked of it.

import { Command } from "commander";
import { parseWhole } from "../../arguments.ts";
import type { Console } from "../../console.ts";
import type { PlaygroundOptions } from "./playground.ts";

export function playgroundCommand(io: Console): Command {
  return new Command("playground")
    .description(
      "Open a page on this machine in which devices, links and alpha can be turned and watched, until Ctrl-C.",
    )
    .argument(
      "[state]",
      "what the page shows: the part of its address behind #, as reports and the page itself give it",
      "",
    )
    .option(
      "--port <port>",
      "where the page is served on 127.0.0.1; 0 takes a free one",
      parseWhole("--port", 0, 65_535),
      0,
    )
    .addHelpText("after", "\nExamples:\n  fedkm playground --port 8080\n  fedkm playground 'data=aniso&alpha=5'")
    .action(async (state: string, options: Omit<PlaygroundOptions, "state">) => {
      const { playground } = await import("./playground.ts");
      await playground({ state, ...options }, io);
    });
}
