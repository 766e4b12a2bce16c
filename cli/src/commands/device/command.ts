// fedkm device: the flags and help of every command about one device. What a command does is loaded when it runs.

import { Command, Option } from "commander";
import { parseAtLeastZero, parseChoices, parseWhole } from "../../arguments.ts";
import type { Console } from "../../console.ts";
import { parseNames } from "../../listArguments.ts";
import type { BackupOptions, RestoreOptions } from "./backup.ts";
import type { InitOptions, InstallOptions } from "./init.ts";
import type { RevokeOptions, RotateOptions } from "./keys.ts";
import type { NeighbourOptions } from "./links.ts";
import type { ReportOptions } from "./report.ts";
import type { RunOptions } from "./run.ts";
import type { StatusOptions } from "./status.ts";

interface StateOptions {
  readonly state: string;
  readonly json?: true;
}

export function deviceCommand(io: Console): Command {
  const command = new Command("device").description(
    "One device of a network without a server: it keeps its rows and talks to its neighbours.",
  );
  const groups = [setUpCommands, linkCommands, runCommands, controlCommands, keyCommands, backupCommands];
  for (const inner of groups.flatMap((group) => group(io))) command.addCommand(inner);
  return command.addCommand(evidenceCommand(io)).addCommand(studyCommand(io));
}

/** Every command about a device takes its folder, and has an example. */
function part(name: string, description: string, example?: string): Command {
  const command = new Command(name)
    .description(description)
    .addOption(new Option("--state <folder>", "the folder of the device").default("fedkm-device"));
  return example === undefined ? command : command.addHelpText("after", `\nExample:\n  fedkm device ${example}`);
}

const jsonOption = () => new Option("--json", "print one JSON object instead");
const portOption = (flag: string, what: string) =>
  new Option(`${flag} <port>`, `serve ${what} on 127.0.0.1; 0 takes a free port`).argParser(
    parseWhole(flag, 0, 65_535),
  );

/** What a person agrees to in advance, where the command would ask or refuse. */
function acceptOption(choices: readonly ("open" | "revoked" | "noise" | "absent")[], meaning: string): Option {
  return new Option(`--accept <${choices.join(",")}>`, meaning).argParser(parseChoices("--accept", choices));
}

function setUpCommands(io: Console): Command[] {
  const init = part(
    "init",
    "Make a device: a key, a folder for its state, and the invite that neighbours need.",
    "init --study study.yaml --data north.csv --state north",
  )
    .requiredOption("--study <file.yaml>", "the study of the devices it takes part with")
    .requiredOption(
      "--data <files...>",
      "files of its rows (CSV, TSV, JSON lines, Parquet, or a source such as postgres://...); they stay where they are",
    )
    .option("--name <text>", "what it is called here (default: the folder's name)")
    .option("--listen <addresses...>", "multiaddresses to listen on (default: a free port, all interfaces)")
    .option("--announce <addresses...>", "multiaddresses for the invite (default: this machine's)")
    .option(
      "--min-rows <rows>",
      "the fewest rows that anything sent may stand for, whatever the study says",
      parseWhole("--min-rows", 1),
    )
    .option(
      "--max-epsilon <number>",
      "never spend more of the rows in a private study, and join no other without --min-rows",
      parseAtLeastZero("--max-epsilon"),
    )
    .option("--never <columns>", "join no study that reads these columns, with commas between", parseNames)
    .option("--consent <stages>", "take part in these stages only, of describe,choose,fit,validate", parseNames)
    .addOption(acceptOption(["noise"], "take part in a private study although this device gains nothing by it"))
    .action(async (options: InitOptions) => (await import("./init.ts")).runDeviceInitCommand(options, io));
  const key = part(
    "key",
    "Print the key of a device, by which studies name their founders; where there is no device yet, make its key first.",
    "key --state north",
  ).action(async ({ state }: StateOptions) => (await import("./init.ts")).runDeviceKeyCommand(state, io));
  const install = part(
    "install",
    "Write the systemd unit that runs this machine's devices as services, and print what is left to do.",
    "install --state /var/lib/fedkm/north",
  )
    .option("--out <folder>", "where the unit goes", "/etc/systemd/system")
    .action(async (options: InstallOptions) => (await import("./init.ts")).runDeviceInstallCommand(options, io));
  return [init, key, install];
}

const neighbourOptions = (command: Command) =>
  command
    .option("--name <text>", "what to call it (default: the end of its id)")
    .addOption(
      acceptOption(
        ["open", "revoked"],
        "agree that neighbours can learn single rows in an open study, or that a device has revoked its key",
      ),
    );

function linkCommands(io: Console): Command[] {
  const work = () => import("./links.ts");
  const link = part(
    "link",
    "Link to the device that an invite names. Nothing flows until it links back.",
    "link fedkm:12D3KooW...@/ip4/192.168.1.5/tcp/4601 --name south",
  ).argument("<invite>", "as its device init printed it");
  const accept = part(
    "accept",
    "Link back a device that has linked this one; without a peer, list those that wait.",
    "accept 12D3KooW... --name south --state north",
  ).argument("[peer]", "its id, or how the id begins or ends");
  return [
    neighbourOptions(link).action(async (invite: string, options: NeighbourOptions) =>
      (await work()).runDeviceLinkCommand(invite, options, io),
    ),
    neighbourOptions(accept).action(async (peer: string | undefined, options: NeighbourOptions) =>
      (await work()).runDeviceAcceptCommand(peer, options, io),
    ),
    part("unlink", "Remove a link. The neighbour's influence goes with it.", "unlink south --state north")
      .argument("<peer>", "the link's name, its peer id, or how that begins")
      .action(async (peer: string, { state }: StateOptions) => (await work()).runDeviceUnlinkCommand(peer, state, io)),
    part(
      "links",
      "List the device's links, the devices that wait to be linked back, and its own invite.",
      "links --state north",
    )
      .addOption(jsonOption())
      .action(async (options: StateOptions) => (await work()).runDeviceLinksCommand(options, io)),
    part(
      "relay",
      "Make the device relay between neighbours that cannot dial each other, or stop it from doing so.",
      "relay on --state north",
    )
      .argument("<choice>", "on or off; it counts from the device's next start")
      .action(async (choice: string, { state }: StateOptions) =>
        (await work()).runDeviceRelayCommand(choice, state, io),
      ),
  ];
}

function runCommands(io: Console): Command[] {
  return [
    part(
      "report",
      "Write the report of the device's own rows, with labels, beside the figures of its network.",
      "report --state north --out north-report",
    )
      .option("--out <folder>", "where the report goes", "fedkm-results")
      .action(async (options: ReportOptions) => (await import("./report.ts")).runDeviceReportCommand(options, io)),
    part(
      "run",
      "Run the device until it is stopped (Ctrl-C or SIGTERM). Its log goes to stderr, one JSON object a line.",
      "run --state north --metrics 9464",
    )
      .addOption(portOption("--metrics", "/metrics, /status and /healthz"))
      .addOption(portOption("--dashboard", "a page that shows the device"))
      .option("--mdns", "announce this device on the local network, and find linked ones there")
      .option("--log <level>", "debug, info, warn, error or silent", "info")
      .option("--record <file.jsonl>", "add every frame sent or received to this file, up to 256 MiB, for fedkm audit")
      .action(async (options: RunOptions) => (await import("./run.ts")).runDeviceRunCommand(options, io)),
    part(
      "status",
      "Show how the device is doing, what is wrong first. Exit code 0: nothing is; 3: it does not answer; 4: something is wrong.",
      "status --state north",
    )
      .addOption(jsonOption())
      .option("--watch", "show it again every second, until Ctrl-C")
      .action(async (options: StatusOptions) => (await import("./status.ts")).runDeviceStatusCommand(options, io)),
    part(
      "dashboard",
      "Print the address of the page of a device that runs with --dashboard. Whoever has it can use the page.",
      "dashboard --state north",
    ).action(async ({ state }: StateOptions) => {
      const { dashboardAddress } = await import("@fedkm/web/server");
      const address = await dashboardAddress(state);
      if (address === undefined) throw new Error(`the device in ${state} has never run with --dashboard`);
      io.stdout.write(`${address}\n`);
    }),
    part("export", "Write the device's clusters as a model file.", "export --state north --out model.json")
      .option("--out <file.json>", "where the model goes", "model.json")
      .action(async (options: { state: string; out: string }) =>
        (await import("./backup.ts")).runDeviceExportCommand(options, io),
      ),
  ];
}

function controlCommands(io: Console): Command[] {
  const work = () => import("./control.ts");
  return [
    part(
      "pause",
      "Pause the device, running or not: it stays linked, makes no update and sends nothing new.",
      "pause --state north",
    ).action(async ({ state }: StateOptions) => (await work()).runDevicePauseCommand(state, true, io)),
    part(
      "resume",
      "End the pause: the device goes on from where its neighbours are now.",
      "resume --state north",
    ).action(async ({ state }: StateOptions) => (await work()).runDevicePauseCommand(state, false, io)),
    part(
      "reset",
      "Make the device begin again from its own rows, running or not. A copy of its state is kept.",
      "reset --state north",
    ).action(async ({ state }: StateOptions) => (await work()).runDeviceResetCommand(state, io)),
    part(
      "consent",
      "Let deleted rows of a guarded device go at once, or its lost history begin anew; let a private one release its rows again.",
      "consent --state north",
    )
      .argument(
        "[what]",
        "a stage (describe, choose, fit or validate) to take part in from now on, or the word books: ask what devices added to shared clusters, and show it of this one",
      )
      .action(async (what: string | undefined, { state }: StateOptions) =>
        what === undefined
          ? (await work()).runDeviceConsentCommand(state, io)
          : (await work()).runDeviceStageCommand(state, what, io),
      ),
  ];
}

function keyCommands(io: Console): Command[] {
  const work = () => import("./keys.ts");
  return [
    part(
      "rotate",
      "Give the device a new key, signed with the old one. It is used when all neighbours know it.",
      "rotate --state north",
    )
      .addOption(acceptOption(["absent"], "agree that neighbours which cannot be reached learn the new key later"))
      .action(async (options: RotateOptions) => (await work()).runDeviceRotateCommand(options, io)),
    part("follow", "Follow a neighbour that cannot be reached to its new key.", "follow north/successor --state south")
      .argument("<file>", "the file successor that device rotate wrote in the neighbour's folder")
      .action(async (file: string, { state }: StateOptions) => (await work()).runDeviceFollowCommand(file, state, io)),
    part(
      "revoke",
      "Unlink a device, and tell the whole network that its key is no longer to be trusted.",
      'revoke south --reason "its disk was stolen" --state north',
    )
      .argument("<peer>", "a link's name, a peer id, or this device's own id if its key was stolen")
      .option("--reason <text>", "why, in at most 200 characters; everybody in the network can read it")
      .action(async (peer: string, options: RevokeOptions) => (await work()).runDeviceRevokeCommand(peer, options, io)),
    part(
      "admit",
      "Vouch for a device, so that its rows count in a shared study with founders; enough members must.",
      "admit 12D3KooW... --state north",
    )
      .argument("<peer>", "its key as its device key prints it, or a link's name")
      .argument("[rows]", "how many rows it may hold (default: as the study says)", parseWhole("rows", 1))
      .action(async (peer: string, rows: number | undefined, { state }: StateOptions) =>
        (await work()).runDeviceMemberCommand("admit", peer, state, io, rows),
      ),
    part(
      "remove",
      "Say that a member is to go, so that its rows do not count any more; enough members must, or the device itself.",
      "remove south --state north",
    )
      .argument("<peer>", "its key, or a link's name")
      .action(async (peer: string, { state }: StateOptions) =>
        (await work()).runDeviceMemberCommand("remove", peer, state, io),
      ),
    part(
      "log",
      "Print what happened to links, keys and data, and check that no line was changed. Exit code 1: one was.",
      "log --state north",
    )
      .addOption(jsonOption())
      .action(async (options: StateOptions) => (await work()).runDeviceLogCommand(options, io)),
  ];
}

function backupCommands(io: Console): Command[] {
  const work = () => import("./backup.ts");
  return [
    part(
      "backup",
      "Save the device in one file, running or not: its key, settings, study, links and epoch; no rows.",
      "backup --state north --out north.fedkm --passphrase-file secret",
    )
      .requiredOption("--out <file>", "where the backup goes")
      .option("--passphrase-file <file>", "encrypt the backup with the passphrase in the first line of this file")
      .action(async (options: BackupOptions) => (await work()).runDeviceBackupCommand(options, io)),
    part(
      "restore",
      "Make a device's folder again from its backup. The old device must not run any more.",
      "restore north.fedkm --state north --passphrase-file secret",
    )
      .argument("<file>", "as device backup wrote it")
      .option("--passphrase-file <file>", "the passphrase of the backup is in the first line of this file")
      .action(async (file: string, options: RestoreOptions) =>
        (await work()).runDeviceRestoreCommand(file, options, io),
      ),
  ];
}

function evidenceCommand(io: Console): Command {
  return part(
    "evidence",
    "Write what a data officer files about the device: study, what left it and to whom, attacks on its rows, an annex for an impact assessment; signed, without rows.",
    "evidence --state north --out evidence.zip",
  )
    .option("--out <file.zip>", "where the evidence goes", "evidence.zip")
    .action(async (options: { state: string; out: string }) =>
      (await import("./backup.ts")).runDeviceEvidenceCommand(options, io),
    );
}

function studyCommand(io: Console): Command {
  const show = part("show", "Show the study, and the studies that neighbours use and propose. This is the default.");
  const propose = part("propose", "Accept a new study here, and propose it to the neighbours.");
  const accept = part("accept", "Accept a study that neighbours propose.");
  const withdraw = part("withdraw", "Return to the previous study, as long as it has not ended.");
  const finish = part("finish", "End the previous study now, even if some neighbours have not accepted the new one.");
  const work = () => import("./study.ts");
  show.action(async ({ state }: StateOptions) => (await work()).runDeviceStudyCommand(state, io));
  propose
    .argument("<file.yaml>", "the new study")
    .action(async (file: string, { state }: StateOptions) =>
      (await work()).runDeviceStudyProposeCommand(file, state, io),
    );
  accept
    .argument("<hash>", "its hash, or how it begins")
    .action(async (hash: string, { state }: StateOptions) =>
      (await work()).runDeviceStudyAcceptCommand(hash, state, io),
    );
  withdraw.action(async ({ state }: StateOptions) => (await work()).runDeviceStudyWithdrawCommand(state, io));
  finish.action(async ({ state }: StateOptions) => (await work()).runDeviceStudyFinishCommand(state, io));
  const command = new Command("study")
    .description("Show the study of the device, or change it together with its neighbours while all run.")
    .addCommand(show, { isDefault: true })
    .addHelpText("after", "\nExample:\n  fedkm device study propose new.yaml --state north");
  for (const change of [propose, accept, withdraw, finish]) command.addCommand(change);
  return command;
}
