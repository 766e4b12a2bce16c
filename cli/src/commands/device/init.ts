// fedkm device init: a key, a folder, and an invite for others.

import { basename, resolve } from "node:path";
import { parseStudy } from "@fedkm/device";
import { createFolder, drawInvite, everyInterface, freePorts, readRows, rowsFault } from "@fedkm/device/daemon";
import type { Console } from "../../console.ts";
import { inviteOf, NO_INVITE } from "../../devices/invite.ts";
import { readStudyText } from "../../devices/study.ts";

export interface InitOptions {
  readonly state: string;
  readonly study: string;
  readonly data: readonly string[];
  readonly name?: string;
  readonly listen?: readonly string[];
  readonly announce?: readonly string[];
}

export async function initDevice(options: InitOptions, { stdout, stderr }: Console): Promise<void> {
  const { state, data, announce = [] } = options;
  const text = readStudyText(options.study);
  const study = parseStudy(text);
  // What cannot be read later is said now.
  const fault = rowsFault(study, await readRows({ data, study }));
  const { name = basename(resolve(state)) } = options;
  const listen = options.listen ?? (await freePorts("0.0.0.0", 1)).flatMap((port) => everyInterface(port));
  const folder = await createFolder(state, text, { name, data, listen, announce });
  const invite = await inviteOf(folder);
  const lines = [
    `device ${name} lives in ${state}; its key is ${state}/key, keep it there`,
    "",
    "invite for its neighbours:",
    invite ?? NO_INVITE,
    // Colour and size are the terminal's; a pipe has no use for a picture.
    ...(stdout.isTTY === true && invite !== undefined ? ["", drawInvite(invite)] : []),
    "",
    `next: fedkm device link INVITE --state ${state}   (on both sides)`,
    `      fedkm device run --state ${state}`,
  ];
  stdout.write(`${lines.join("\n")}\n`);
  if (fault !== undefined) stderr.write(`fedkm: warning: ${fault}\n`);
}
