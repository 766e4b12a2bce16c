// fedkm device pause and resume: a device that stays linked and makes no update, until it is resumed.

import { readFolder } from "@fedkm/device/daemon";
import type { Console } from "../../console.ts";
import { pauseDevice } from "../../devices/changes.ts";

export async function pause(state: string, isPaused: boolean, { stdout, stderr }: Console): Promise<void> {
  const folder = await readFolder(state);
  const isRunning = await pauseDevice(folder, isPaused, stderr);
  const what = isPaused ? "is paused" : "goes on";
  stdout.write(`${folder.name} ${what} ${isRunning ? "within a few seconds" : "when it is run"}\n`);
}
