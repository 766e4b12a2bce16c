// fedkm docs: the documentation as a site that can be searched, served to this machine from the package itself.

import { Command } from "commander";
import { parseWhole } from "../../arguments.ts";
import type { Console } from "../../console.ts";

export function docsCommand(io: Console): Command {
  return new Command("docs")
    .description("Serve the documentation on this machine, with a search, until Ctrl-C. It needs no internet.")
    .option(
      "--port <port>",
      "where the page is served on 127.0.0.1; 0 takes a free port",
      parseWhole("--port", 0, 65_535),
      0,
    )
    .action(async ({ port }: { port: number }) => {
      const { servePagesUntilStopped } = await import("../../pages.ts");
      await servePagesUntilStopped(io, port, "docs/index.html", "The documentation is served to this machine.");
    });
}
