// fedkm device restore: a device's folder made again from its backup.

import { keepsHistory } from "@fedkm/device";
import { readFolder, restoreFolder } from "@fedkm/device/daemon";
import type { Console } from "../../console.ts";
import { readPassphrase } from "../../devices/passphrase.ts";

export interface RestoreOptions {
  readonly state: string;
  readonly passphraseFile?: string;
}

export async function restoreDevice(
  file: string,
  { state, passphraseFile }: RestoreOptions,
  { stdout }: Console,
): Promise<void> {
  const { name, savedAt, missingData } = await restoreFolder(file, state, readPassphrase(passphraseFile));
  const { study } = await readFolder(state);
  const consent = `What it has published of its rows is not in a backup: it sends nothing of them until fedkm device consent --state ${state}`;
  const lines = [
    `device ${name} lives in ${state} again, as it was at ${savedAt}`,
    "Do not run it while the device that it was saved from runs: both would be the same device.",
    ...missingData.map((path) => `data file ${path} does not exist here: bring it, or correct ${state}/device.json`),
    ...(keepsHistory(study) ? [consent] : []),
    "",
    `next: fedkm device run --state ${state}`,
  ];
  stdout.write(`${lines.join("\n")}\n`);
}
