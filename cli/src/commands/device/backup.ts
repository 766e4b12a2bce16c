// fedkm device backup: a device in one file, for the day its machine is lost.

import { backUpFolder } from "@fedkm/device/daemon";
import type { Console } from "../../console.ts";
import { readPassphrase } from "../../devices/passphrase.ts";

export interface BackupOptions {
  readonly state: string;
  readonly out: string;
  readonly passphraseFile?: string;
  readonly centroids?: true;
}

export async function backUpDevice(options: BackupOptions, { stdout }: Console): Promise<void> {
  const { state, out, passphraseFile, centroids } = options;
  const passphrase = readPassphrase(passphraseFile);
  const { files } = await backUpFolder(state, out, {
    passphrase,
    withCentroids: centroids === true,
    at: new Date(),
  });
  const warning =
    passphrase === undefined
      ? "it holds the secret key: whoever can read it can be this device"
      : "it is encrypted: without the passphrase nobody can restore it";
  stdout.write(`wrote ${out}: ${[...files.keys()].join(", ")} and the epoch; ${warning}\n`);
}
