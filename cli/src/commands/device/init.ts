// fedkm device init, key and install: a key, a folder, an invite for others, and the service that runs the device.

import { mkdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import {
  type DeviceRows,
  gainFromStudy,
  isOpenStudy,
  limitsFault,
  type OwnerLimits,
  parseStudy,
  type Study,
  stageWords,
  studyStages,
} from "@fedkm/device";
import {
  createFolder,
  createKeyFolder,
  drawInvite,
  everyMachineInterface,
  folderInvite,
  freeMachinePorts,
  lookAtRowSource,
  readTextFile,
  rowSourceRemarks,
  SERVICE_UNIT_FILE,
  serviceUnit,
} from "@fedkm/device/daemon";
import { parseChoices } from "../../arguments.ts";
import { askPerson, type Console, warnOn } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { ownProgram } from "../../package.ts";
import { writeResultFile } from "../../write.ts";
import { NO_INVITE } from "./links.ts";

export interface InitOptions {
  readonly state: string;
  readonly study: string;
  readonly data: readonly string[];
  readonly name?: string;
  readonly listen?: readonly string[];
  readonly announce?: readonly string[];
  readonly minRows?: number;
  readonly maxEpsilon?: number;
  readonly never?: readonly string[];
  readonly consent?: readonly string[];
  readonly accept?: readonly "noise"[];
}

/** What a device with these rows gains from a private study, in one line; where that is nothing, only if it is accepted. */
function gainOf(study: Study, rows: DeviceRows, { accept = [] }: InitOptions): string {
  const { gain, words } = gainFromStudy(study, rows);
  if (gain === "useless")
    throw new UsageError(`the study needs a larger epsilon, more rows or fewer clusters: ${words}`);
  if (gain === "some" || accept.includes("noise")) return `private: ${words}`;
  throw new UsageError(`taking part needs a larger epsilon, more rows, or --accept noise: ${words}`);
}

/** With fewer links devices of a shared clustering wait. */
function linksNeeded({ clusters, colluders = 1 }: Study): string {
  return clusters === "shared" ? `, with ${colluders + 1} neighbours or more` : "";
}

export async function runDeviceKeyCommand(state: string, { stdout }: Console): Promise<void> {
  stdout.write(`${(await createKeyFolder(state)).peer}\n`);
}

/** What a device must know that the study does not name. */
function membershipOf({ founders, vouchers }: Study, peer: string): string[] {
  if (founders === undefined || founders.includes(peer)) return [];
  return [`it is no founder of the study: its rows count when ${vouchers} members have run fedkm device admit ${peer}`];
}

export async function runDeviceInitCommand(options: InitOptions, io: Console): Promise<void> {
  const { stdout } = io;
  const { state, data, announce = [] } = options;
  const text = readTextFile(options.study);
  const study = parseStudy(text);
  // What cannot be read later is said now.
  const limits = await limitsOf(options, study, io);
  const out = limitsFault(study, limits);
  const { rows, fault } = await lookAtRowSource({ data, study, limits }, process.env);
  const gain = study.privacy === "private" && out === undefined ? [gainOf(study, rows, options)] : [];
  const { name = basename(resolve(state)) } = options;
  const listen =
    options.listen ?? (await freeMachinePorts("0.0.0.0", 1)).flatMap((port) => everyMachineInterface(port));
  const folder = await createFolder(state, text, { name, data, listen, announce, limits });
  const invite = await folderInvite(folder);
  const lines = [
    `device ${name} is in the folder ${state}; its secret key is ${state}/key, keep it there`,
    ...gain,
    ...membershipOf(study, folder.identity.peer),
    ...rowSourceRemarks(data, study),
    "",
    "invite for its neighbours:",
    invite ?? NO_INVITE,
    // Colour and size are the terminal's; a pipe has no use for a picture.
    ...(stdout.isTTY === true && invite !== undefined ? ["", await drawInvite(invite)] : []),
    "",
    `next: fedkm device link INVITE --state ${state}   (on both sides${linksNeeded(study)})`,
    `      fedkm device run --state ${state}`,
  ];
  stdout.write(`${lines.join("\n")}\n`);
  if (fault !== undefined) warnOn(io)(fault);
  if (out !== undefined) warnOn(io)(`this device will stay out of the study: ${out}`);
}

/** What the owner allows. In a terminal the stages of an open study are asked for, once. */
async function limitsOf(options: InitOptions, study: Study, io: Console): Promise<OwnerLimits> {
  const { minRows, maxEpsilon, never } = options;
  const isAsked = options.consent === undefined && isOpenStudy(study);
  const words = studyStages.map((stage) => `  ${stage}: ${stageWords[stage]}`);
  const question = `the network does the study in stages:\n${words.join("\n")}\nstages to take part in (Enter: all) `;
  const answer = isAsked ? (await askPerson(io, question))?.trim() : undefined;
  const given = options.consent ?? (answer ? answer.split(",") : undefined);
  const consent = given && parseChoices("--consent", studyStages)(given.join(","));
  return {
    ...(minRows !== undefined && { minRows }),
    ...(maxEpsilon !== undefined && { maxEpsilon }),
    ...(never !== undefined && { never }),
    ...(consent !== undefined && { consent }),
  };
}

// fedkm device install: the unit under which systemd runs the devices of this machine, and the folder for their state.

export interface InstallOptions {
  readonly state: string;
  /** The folder of systemd's units. */
  readonly out: string;
}

export async function runDeviceInstallCommand({ state, out }: InstallOptions, { stdout }: Console): Promise<void> {
  const [folder, unit] = [resolve(state), join(out, SERVICE_UNIT_FILE)];
  await writeResultFile(unit, serviceUnit(ownProgram.join(" "), folder));
  mkdirSync(dirname(folder), { recursive: true, mode: 0o755 });
  const name = basename(folder);
  const lines = [
    `wrote ${unit}; devices are in ${dirname(folder)}, each in a folder of its name`,
    "",
    "next, as root:",
    `  useradd --system --home-dir ${dirname(folder)} fedkm`,
    `  fedkm device init --study study.yaml --data ${name}.csv --state ${folder}, if there is no device yet`,
    `  chown -R fedkm: ${folder}`,
    `  systemctl daemon-reload && systemctl enable --now fedkm-device@${name}`,
  ];
  stdout.write(`${lines.join("\n")}\n`);
}
