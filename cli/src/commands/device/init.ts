// fedkm device init: a key, a folder, and an invite for others.

import { basename, resolve } from "node:path";
import {
  type DeviceRows,
  devicesToGainBy,
  isOpenStudy,
  isReleasedInRounds,
  limitsFault,
  noiseOfRelease,
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
  readStudyText,
  rowSourceRemarks,
} from "@fedkm/device/daemon";
import { parseChoices } from "../../arguments.ts";
import { askPerson, type Console, warnOn } from "../../console.ts";
import { UsageError } from "../../failure.ts";
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

/** More devices than this hardly ever take part, and then privacy only costs. */
const MOST_EXPECTED_DEVICES = 1000;

/** What a device with these rows gains from a private study, in one line; where that is nothing, only if it is accepted. */
function gainOf(study: Study, rows: DeviceRows, { accept = [] }: InitOptions): string {
  const { isGain, words } = isReleasedInRounds(study) ? gainOfRounds(study) : gainOfGrid(study, rows);
  if (isGain || accept.includes("noise")) return `private: ${words}`;
  throw new UsageError(`taking part needs a larger epsilon, more rows, or --accept noise: ${words}`);
}

function gainOfRounds(study: Study): { isGain: boolean; words: string } {
  const { verdict, words } = noiseOfRelease(study);
  if (verdict === "useless")
    throw new UsageError(`the study needs a larger epsilon, more rows or fewer clusters: ${words}`);
  return { isGain: verdict !== "risky", words };
}

function gainOfGrid(study: Study, rows: DeviceRows): { isGain: boolean; words: string } {
  const devices = devicesToGainBy(study, rows);
  if (devices <= MOST_EXPECTED_DEVICES) {
    const few = devices <= 2 ? "any neighbour" : `${devices} devices or more that have the same clusters`;
    const words = `with ${few} the common answer can be expected to be nearer to the truth than this device alone`;
    return { isGain: true, words };
  }
  const words = Number.isFinite(devices)
    ? `only ${devices} devices together would be nearer to the truth than this device alone`
    : "the clusters of these rows would drown in the noise, and this device would only follow its neighbours";
  return { isGain: false, words };
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
  const text = readStudyText(options.study);
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
