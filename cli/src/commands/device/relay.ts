// fedkm device relay: whether a device relays between its neighbours, from its next start on.

import { isLocked, readFolder, writeSettings } from "@fedkm/device/daemon";
import type { Console } from "../../console.ts";
import { UsageError } from "../../failure.ts";

export async function setRelay(choice: string, state: string, { stdout }: Console): Promise<void> {
  if (choice !== "on" && choice !== "off") throw new UsageError(`relay must be on or off, got "${choice}"`);
  const folder = await readFolder(state);
  const relay = choice === "on";
  if (relay && folder.listen.length === 0)
    throw new UsageError(`a device that relays must listen somewhere, got no address in ${state}/device.json`);
  await writeSettings(state, { ...folder, relay });
  const when = (await isLocked(state))
    ? `when it is started again: stop it, then fedkm device run --state ${state}`
    : "when it is run";
  const what = relay ? "relays between its neighbours" : "relays for nobody";
  stdout.write(`${folder.name} ${what} ${when}\n`);
}
