// fedkm device backup, restore, export and evidence: a device in one file, its clusters as a model, and what its officer files.

import { keepsHistory } from "@fedkm/device";
import { backUpFolder, readFolder, readTextFile, restoreFolder } from "@fedkm/device/daemon";
import type { Console } from "../../console.ts";
import { modelOfFolder } from "../../deviceFolders.ts";
import { UsageError } from "../../failure.ts";
import { version } from "../../package.ts";
import { writeResultFile } from "../../write.ts";

export interface BackupOptions {
  readonly state: string;
  readonly out: string;
  readonly passphraseFile?: string;
}

export async function runDeviceBackupCommand(
  { state, out, passphraseFile }: BackupOptions,
  { stdout }: Console,
): Promise<void> {
  const passphrase = readPassphrase(passphraseFile);
  const { files } = await backUpFolder(state, out, { passphrase, at: new Date() });
  const warning =
    passphrase === undefined
      ? "it holds the secret key: whoever can read it can be this device"
      : "it is encrypted: without the passphrase nobody can restore it";
  stdout.write(`wrote ${out}: ${[...files.keys()].join(", ")} and the epoch; ${warning}\n`);
}

export interface RestoreOptions {
  readonly state: string;
  readonly passphraseFile?: string;
}

export async function runDeviceRestoreCommand(
  file: string,
  { state, passphraseFile }: RestoreOptions,
  { stdout }: Console,
): Promise<void> {
  const { name, savedAt, missingData } = await restoreFolder(file, state, readPassphrase(passphraseFile));
  const { study } = await readFolder(state);
  const consent = `A backup does not hold what was published of the rows: the device sends nothing of them until fedkm device consent --state ${state}`;
  const lines = [
    `device ${name} is in ${state} again, as it was at ${savedAt}`,
    "Do not run it while the device that it was saved from runs: both would be the same device.",
    ...missingData.map((path) => `data file ${path} does not exist here: bring it, or correct ${state}/device.json`),
    ...(keepsHistory(study) ? [consent] : []),
    "",
    `next: fedkm device run --state ${state}`,
  ];
  stdout.write(`${lines.join("\n")}\n`);
}

/** The first line of the file: an argument would be seen by every user of the machine. Undefined: no file was named. */
function readPassphrase(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  const [passphrase] = readTextFile(file).split(/\r?\n/);
  if (passphrase === "")
    throw new UsageError(`--passphrase-file must hold a passphrase in its first line, got ${file}`);
  return passphrase;
}

export async function runDeviceExportCommand(
  { state, out }: { state: string; out: string },
  { stdout }: Console,
): Promise<void> {
  const model = await modelOfFolder(state);
  const [{ name, centroids }] = model.devices;
  await writeResultFile(out, `${JSON.stringify(model, undefined, 2)}\n`);
  stdout.write(`wrote ${out}: ${centroids.length} clusters of ${name}\n`);
}

export async function runDeviceEvidenceCommand(
  { state, out }: { state: string; out: string },
  { stdout }: Console,
): Promise<void> {
  const { deviceEvidence } = await import("@fedkm/audit/evidence");
  const host = { fedkm: version(), node: process.version, env: process.env };
  const { bytes, files, peer } = await deviceEvidence(state, new Date(), host);
  await writeResultFile(out, bytes);
  stdout.write(`wrote ${out}: ${files} files, signed by ${peer}\nwhoever has it checks it with: fedkm verify ${out}\n`);
}
