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
    .option(
      "--port <port>",
      "where the page is served on 127.0.0.1; 0 takes a free one",
      parseWhole("--port", 0, 65_535),
      0,
    )
    .addHelpText("after", "\nExample:\n  fedkm playground --port 8080")
    .action(async (options: PlaygroundOptions) => {
      const { playground } = await import("./playground.ts");
      await playground(options, io);
    });
}
