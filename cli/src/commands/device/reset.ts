// fedkm device reset: the device begins again from its own rows, running or not.

import { readFolder } from "@fedkm/device/daemon";
import type { Console } from "../../console.ts";
import { resetDevice } from "../../devices/changes.ts";

export async function reset(state: string, { stdout, stderr }: Console): Promise<void> {
  const folder = await readFolder(state);
  const { setAside, isRunning } = await resetDevice(folder, stderr);
  const kept = setAside === undefined ? "it had no state yet" : `its state until now is in ${setAside}`;
  const when = isRunning ? "within a few seconds, and the whole network with it" : "when it is run";
  stdout.write(`${folder.name} begins again from its own rows ${when}; ${kept}\n`);
}
