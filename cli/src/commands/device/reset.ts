// fedkm device reset: the device begins again from its own rows, running or not.

import { readFolder, resetFolder } from "@fedkm/device/daemon";
import type { Console } from "../../console.ts";
import { noteInLog } from "../../devices/audit.ts";

export async function resetDevice(state: string, { stdout, stderr }: Console): Promise<void> {
  const { name } = await readFolder(state);
  const { setAside, isRunning } = await resetFolder(state, new Date());
  await noteInLog(state, "reset", {}, stderr);
  const kept = setAside === undefined ? "it had no state yet" : `its state until now is in ${setAside}`;
  const when = isRunning ? "within a few seconds, and the whole network with it" : "when it is run";
  stdout.write(`${name} begins again from its own rows ${when}; ${kept}\n`);
}
