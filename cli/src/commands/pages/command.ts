// fedkm playground and fedkm docs: the built pages, served to this machine until Ctrl-C.

import { Command, Option } from "commander";
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
    .addOption(portOption())
    .addHelpText("after", "\nExamples:\n  fedkm playground --port 8080\n  fedkm playground 'data=aniso&alpha=5'")
    .action(async (state: string, { port }: { port: number }) => {
      const [{ unreadSetupSettings }, { UsageError }] = await Promise.all([
        import("@fedkm/web"),
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

export function docsCommand(io: Console): Command {
  return new Command("docs")
    .description("Serve the documentation on this machine, with a search, until Ctrl-C. It needs no internet.")
    .addOption(portOption())
    .action(async ({ port }: { port: number }) => {
      await servePagesUntilStopped(io, port, "docs/index.html", "The documentation is served to this machine.");
    });
}

const portOption = () =>
  new Option("--port <port>", "where the page is served on 127.0.0.1; 0 takes a free port")
    .argParser(parseWhole("--port", 0, 65_535))
    .default(0);

/** Prints the address of one of them. */
async function servePagesUntilStopped(io: Console, port: number, path: string, words: string): Promise<void> {
  const [{ servePlayground }, { stoppable, untilStopped }] = await Promise.all([
    import("@fedkm/web/server"),
    import("../../stop.ts"),
  ]);
  return stoppable(async (signal) => {
    const pages = await servePlayground(port);
    io.stdout.write(`http://127.0.0.1:${pages.port}/${path}\n`);
    io.stderr.write(`${words} Ctrl-C ends it.\n`);
    await untilStopped(signal);
    pages.close();
  });
}
