// fedkm device install: the unit under which systemd runs the devices of this machine, and the folder for their state.

import { mkdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { SERVICE_UNIT_FILE, serviceUnit } from "@fedkm/device/daemon";
import type { Console } from "../../console.ts";
import { writeResultFile } from "../../write.ts";

export interface InstallOptions {
  readonly state: string;
  /** The folder of systemd's units. */
  readonly out: string;
}

export async function runDeviceInstallCommand({ state, out }: InstallOptions, { stdout }: Console): Promise<void> {
  const [folder, unit] = [resolve(state), join(out, SERVICE_UNIT_FILE)];
  const program = fileURLToPath(new URL("../../../bin/fedkm.js", import.meta.url));
  await writeResultFile(unit, serviceUnit(`${process.execPath} ${program}`, folder));
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
