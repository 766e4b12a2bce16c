// fedkm device: what can be asked of one device on a real network.

import { Command, Option } from "commander";
import { parseWhole } from "../../arguments.ts";
import type { Console } from "../../console.ts";
import type { AcceptOptions } from "./accept.ts";
import type { BackupOptions } from "./backup.ts";
import type { InitOptions } from "./init.ts";
import type { LinkOptions } from "./link.ts";
import type { LogOptions } from "./log.ts";
import type { RestoreOptions } from "./restore.ts";
import type { RevokeOptions } from "./revoke.ts";
import type { RotateOptions } from "./rotate.ts";
import type { RunOptions } from "./run.ts";
import { consentCommand, pauseCommand, resetCommand, resumeCommand } from "./stateCommands.ts";
import type { StatusOptions } from "./status.ts";
import { studyCommand } from "./studyCommand.ts";

interface StateOptions {
  readonly state: string;
  readonly json?: true;
}

/** Every command about a device says which one by its folder. */
const stateOption = () => new Option("--state <folder>", "the device's folder").default("fedkm-device");
const evenRevokedOption = () =>
  new Option("--even-revoked", "link it although somebody says that it is no longer to be trusted");
const passphraseOption = (what: string) => new Option("--passphrase-file <file>", what);
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
    .addCommand(dashboardCommand(io))
    .addCommand(exportCommand(io))
    .addCommand(pauseCommand(io, stateOption))
    .addCommand(resumeCommand(io, stateOption))
    .addCommand(resetCommand(io, stateOption))
    .addCommand(rotateCommand(io))
    .addCommand(revokeCommand(io))
    .addCommand(logCommand(io))
    .addCommand(studyCommand(io, stateOption))
    .addCommand(backupCommand(io))
    .addCommand(restoreCommand(io))
    .addCommand(relayCommand(io))
    .addCommand(consentCommand(io, stateOption));
}

function rotateCommand(io: Console): Command {
  return new Command("rotate")
    .description("Give the device a new key, for which the old one vouches. It is used when all neighbours know it.")
    .addOption(stateOption())
    .option("--now", "use it without waiting for neighbours that cannot be reached")
    .addHelpText("after", "\nExample:\n  fedkm device rotate --state north")
    .action(async (options: RotateOptions) => {
      const { rotateDevice } = await import("./rotate.ts");
      await rotateDevice(options, io);
    });
}

function revokeCommand(io: Console): Command {
  return new Command("revoke")
    .description("Unlink a device, and say to the whole network that its key is no longer to be trusted.")
    .argument("<peer>", "a link's name, a peer id, or this device's own id if its key was stolen")
    .addOption(stateOption())
    .option("--reason <text>", "why, in at most 200 characters; everybody in the network can read it")
    .addHelpText("after", '\nExample:\n  fedkm device revoke south --reason "its disk was stolen" --state north')
    .action(async (peer: string, options: RevokeOptions) => {
      const { revokeDevice } = await import("./revoke.ts");
      await revokeDevice(peer, options, io);
    });
}

function logCommand(io: Console): Command {
  return new Command("log")
    .description(
      "Print what happened to links, keys and data, and check that no line was changed. Exit code 1: one was.",
    )
    .addOption(stateOption())
    .addOption(jsonOption())
    .option("--since <date>", "only what happened from then on, such as 2026-11-16")
    .addHelpText("after", "\nExample:\n  fedkm device log --since 2026-11-01 --state north")
    .action(async (options: LogOptions) => {
      const { showLog } = await import("./log.ts");
      await showLog(options, io);
    });
}

function backupCommand(io: Console): Command {
  return new Command("backup")
    .description("Save the device in one file, running or not: its key, settings, study, links and epoch; no data.")
    .addOption(stateOption())
    .requiredOption("--out <file>", "where the backup goes")
    .addOption(passphraseOption("encrypt the backup with the passphrase in this file"))
    .option("--centroids", "save its centroids too, which the device would compute again")
    .addHelpText("after", "\nExample:\n  fedkm device backup --state north --out north.fedkm --passphrase-file secret")
    .action(async (options: BackupOptions) => {
      const { backUpDevice } = await import("./backup.ts");
      await backUpDevice(options, io);
    });
}

function restoreCommand(io: Console): Command {
  return new Command("restore")
    .description("Make a device's folder again from its backup. The old one must not run any more.")
    .argument("<file>", "as device backup wrote it")
    .addOption(stateOption())
    .addOption(passphraseOption("the passphrase of the backup is in this file"))
    .addHelpText("after", "\nExample:\n  fedkm device restore north.fedkm --state north --passphrase-file secret")
    .action(async (file: string, options: RestoreOptions) => {
      const { restoreDevice } = await import("./restore.ts");
      await restoreDevice(file, options, io);
    });
}

function relayCommand(io: Console): Command {
  return new Command("relay")
    .description("Make the device relay between neighbours that cannot dial each other, or stop it from doing so.")
    .argument("<choice>", "on or off; it counts from the device's next start")
    .addOption(stateOption())
    .addHelpText("after", "\nExample:\n  fedkm device relay on --state north")
    .action(async (choice: string, { state }: StateOptions) => {
      const { setRelay } = await import("./relay.ts");
      await setRelay(choice, state, io);
    });
}

function initCommand(io: Console): Command {
  return new Command("init")
    .description("Make a device: a key, a folder for its state, and the invite that neighbours need.")
    .addOption(stateOption())
    .requiredOption("--study <file.yaml>", "the study it takes part in")
    .option("--accept-noise", "take part in a private study although this device gains nothing by it")
    .requiredOption(
      "--data <files...>",
      "its own rows (CSV, TSV, JSON lines, Parquet, or a source such as postgres://...); they stay where they are",
    )
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
    .option("--successor <file>", "follow a neighbour to its new key instead, by the file that its device rotate wrote")
    .addOption(evenRevokedOption())
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
    .addOption(evenRevokedOption())
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
    .option(
      "--dashboard <port>",
      "serve a page on 127.0.0.1 that shows this device; 0 takes a free port",
      parseWhole("--dashboard", 0, 65_535),
    )
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

function dashboardCommand(io: Console): Command {
  return new Command("dashboard")
    .description(
      "Print the address of the page of a device that runs with --dashboard. Whoever has it can use the page.",
    )
    .addOption(stateOption())
    .addHelpText("after", "\nExample:\n  fedkm device dashboard --state north")
    .action(async ({ state }: { state: string }) => {
      const { dashboardAddress } = await import("../../dashboard/open.ts");
      const address = await dashboardAddress(state);
      if (address === undefined) {
        throw new Error(`${state} must be the folder of a device that ran with --dashboard, got none`);
      }
      io.stdout.write(`${address}\n`);
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
