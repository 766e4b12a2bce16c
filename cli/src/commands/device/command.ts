// fedkm device: what can be asked of one device on a real network.

import { Command, Option } from "commander";
import { parseWhole } from "../../arguments.ts";
import type { Console } from "../../console.ts";
import type { AcceptOptions } from "./accept.ts";
import type { InitOptions } from "./init.ts";
import type { LinkOptions } from "./link.ts";
import type { RunOptions } from "./run.ts";
import type { StatusOptions } from "./status.ts";

interface StateOptions {
  readonly state: string;
  readonly json?: true;
}

/** Every command about a device says which one by its folder. */
const stateOption = () => new Option("--state <folder>", "the device's folder").default("fedkm-device");
const acceptOpenOption = () =>
  new Option("--accept-open", "agree that neighbours can learn single rows (open studies)");
const jsonOption = () => new Option("--json", "print one JSON object instead");

export function deviceCommand(io: Console): Command {
  return new Command("device")
    .description("One device of a network without a server: it keeps its data and talks to its neighbours.")
    .addCommand(initCommand(io))
    .addCommand(linkCommand(io))
    .addCommand(acceptCommand(io))
    .addCommand(linksCommand(io))
    .addCommand(runCommand(io))
    .addCommand(statusCommand(io))
    .addCommand(exportCommand(io))
    .addCommand(resetCommand(io))
    .addCommand(consentCommand(io));
}

function consentCommand(io: Console): Command {
  return new Command("consent")
    .description(
      "Let a guarded device forget what it has published: because that is lost, or because rows must be deleted at once.",
    )
    .addOption(stateOption())
    .addHelpText("after", "\nExample:\n  fedkm device consent --state north")
    .action(async ({ state }: StateOptions) => {
      const { consent } = await import("./consent.ts");
      await consent(state, io);
    });
}

function resetCommand(io: Console): Command {
  return new Command("reset")
    .description("Make the device begin again from its own rows, running or not. Its state is set aside, not lost.")
    .addOption(stateOption())
    .addHelpText("after", "\nExample:\n  fedkm device reset --state north")
    .action(async ({ state }: StateOptions) => {
      const { resetDevice } = await import("./reset.ts");
      await resetDevice(state, io);
    });
}

function initCommand(io: Console): Command {
  return new Command("init")
    .description("Make a device: a key, a folder for its state, and the invite that neighbours need.")
    .addOption(stateOption())
    .requiredOption("--study <file.yaml>", "the study it takes part in")
    .requiredOption("--data <files...>", "its own rows (CSV, TSV, JSON lines or Parquet); they stay where they are")
    .option("--name <text>", "what it is called here (default: the folder's name)")
    .option("--listen <addresses...>", "multiaddresses to listen on (default: a free port, all interfaces)")
    .option("--announce <addresses...>", "multiaddresses for the invite (default: this machine's)")
    .addHelpText("after", "\nExample:\n  fedkm device init --study study.yaml --data north.csv --state north")
    .action(async (options: InitOptions) => {
      const { initDevice } = await import("./init.ts");
      await initDevice(options, io);
    });
}

function linkCommand(io: Console): Command {
  return new Command("link")
    .description("Link to the device that an invite names. Nothing flows until it links back.")
    .argument("[invite]", "as its device init printed it")
    .addOption(stateOption())
    .option("--name <text>", "what to call it (default: the end of its id)")
    .option("--remove <name>", "unlink the device of this name or id instead")
    .addOption(acceptOpenOption())
    .addHelpText("after", "\nExample:\n  fedkm device link fedkm:12D3KooW...@/ip4/192.168.1.5/tcp/4601 --name south")
    .action(async (invite: string | undefined, options: LinkOptions) => {
      const { linkDevice } = await import("./link.ts");
      await linkDevice(invite, options, io);
    });
}

function acceptCommand(io: Console): Command {
  return new Command("accept")
    .description("Link back a device that has linked this one; without a peer, list those that wait.")
    .argument("[peer]", "its id, or how the id begins or ends")
    .addOption(stateOption())
    .option("--name <text>", "what to call it (default: the end of its id)")
    .addOption(acceptOpenOption())
    .addHelpText("after", "\nExample:\n  fedkm device accept 12D3KooW... --name south --state north")
    .action(async (peer: string | undefined, options: AcceptOptions) => {
      const { acceptDevice } = await import("./accept.ts");
      await acceptDevice(peer, options, io);
    });
}

function linksCommand(io: Console): Command {
  return new Command("links")
    .description("List the device's links, those that wait to be linked back, and its own invite.")
    .addOption(stateOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  fedkm device links --state north")
    .action(async (options: StateOptions) => {
      const { listLinks } = await import("./links.ts");
      await listLinks(options, io);
    });
}

function runCommand(io: Console): Command {
  return new Command("run")
    .description(
      "Run the device until it is stopped (Ctrl-C or SIGTERM). Its log goes to stderr, one JSON object a line.",
    )
    .addOption(stateOption())
    .option("--metrics <port>", "serve /metrics, /status and /healthz on 127.0.0.1", parseWhole("--metrics", 0, 65_535))
    .option("--mdns", "announce this device on the local network, and find linked ones there")
    .option("--log <level>", "debug, info, warn, error or silent", "info")
    .option(
      "--record <file.jsonl>",
      "add every frame that is sent or received to this file, up to 256 MiB, for fedkm audit",
    )
    .addHelpText("after", "\nExample:\n  fedkm device run --state north --metrics 9464")
    .action(async (options: RunOptions) => {
      const { runDevice } = await import("./run.ts");
      await runDevice(options, io);
    });
}

function statusCommand(io: Console): Command {
  return new Command("status")
    .description("Say how the device is doing. The exit code is 0 if it runs and 3 if it does not.")
    .addOption(stateOption())
    .addOption(jsonOption())
    .option("--watch", "say it again every second, until Ctrl-C")
    .addHelpText("after", "\nExample:\n  fedkm device status --state north")
    .action(async (options: StatusOptions) => {
      const { showStatus } = await import("./status.ts");
      await showStatus(options, io);
    });
}

function exportCommand(io: Console): Command {
  return new Command("export")
    .description("Write the device's clusters as a model file.")
    .addOption(stateOption())
    .option("--out <file.json>", "where the model goes", "model.json")
    .addHelpText("after", "\nExample:\n  fedkm device export --state north --out model.json")
    .action(async (options: { state: string; out: string }) => {
      const { exportModel } = await import("./export.ts");
      await exportModel(options, io);
    });
}
