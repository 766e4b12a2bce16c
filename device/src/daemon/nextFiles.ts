// The files of a change of study in a state folder: next.yaml while it is under way, and study.yaml when it is done.

import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { durableWrite, realDisk } from "../disk/disk.ts";
import { lockFolder } from "../disk/folderLock.ts";
import { reasonOf } from "../reason.ts";
import { contractOf, formatStudy, parseStudy, type Study, studyId } from "../study/study.ts";
import { STUDY_FILE } from "./folder.ts";
import { adoptNext, removeNextState } from "./nextStore.ts";
import { copyAside, STATE_FILES } from "./ownerFiles.ts";

/** The study that the owner accepted. A running device that finds it changes to it. */
export const NEXT_FILE = "next.yaml";
/** A running device that finds it ends the study before, whoever has not followed. */
export const NOW_FILE = "next.now";

/** Undefined: there is no change. Throws one line that names the file if it is damaged. */
export async function readNext(path: string): Promise<Study | undefined> {
  const file = join(path, NEXT_FILE);
  const bytes = await realDisk.read(file);
  if (bytes === undefined) return undefined;
  try {
    return parseStudy(new TextDecoder().decode(bytes));
  } catch (error) {
    throw new Error(`${file} must be the study to change to: ${reasonOf(error)}`, { cause: error });
  }
}

export async function writeNext(path: string, study: Study): Promise<void> {
  await durableWrite(join(path, NEXT_FILE), new TextEncoder().encode(formatStudy(study)));
}

/** The next study becomes the study; what the device had of the one before is set aside. Returns where. */
export async function switchStudy(path: string, at: Date): Promise<string | undefined> {
  const text = await readFile(join(path, NEXT_FILE));
  const setAside = await copyAside(path, [STUDY_FILE, ...STATE_FILES], at);
  try {
    await durableWrite(join(path, STUDY_FILE), text);
  } catch (error) {
    // It will be tried again, and every time would leave a copy.
    if (setAside !== undefined) await rm(setAside, { recursive: true });
    throw error;
  }
  return setAside;
}

/** What is left to do after `switchStudy`, also where a crash came in between. Without a change it does nothing. */
export async function completeSwitch(path: string): Promise<void> {
  const next = await readNext(path).catch(() => undefined);
  if (next === undefined) return;
  const id = await studyIdOf(next);
  const current = parseStudy(await readFile(join(path, STUDY_FILE), "utf8"));
  if ((await studyIdOf(current)) !== id) return;
  await adoptNext(path, id);
  await removeNext(path);
}

/** Ends a change. The study is removed last, so that nothing of it is left behind. */
export async function removeNext(path: string): Promise<void> {
  await removeNextState(path);
  for (const name of [NOW_FILE, NEXT_FILE]) await realDisk.remove(join(path, name));
}

export interface EndedChange {
  readonly isRunning: boolean;
}

/** Ends the study before at once, whoever has not followed. A running device follows within a few seconds. */
export async function finishChange(path: string, at: Date): Promise<EndedChange> {
  return whetherRunning(path, {
    running: () => durableWrite(join(path, NOW_FILE), new TextEncoder().encode(`${at.toISOString()}\n`)),
    async stopped() {
      await switchStudy(path, at);
      await completeSwitch(path);
    },
  });
}

/** Goes back to the study before. A running device follows within a few seconds. */
export async function withdrawChange(path: string): Promise<EndedChange> {
  return whetherRunning(path, {
    running: () => realDisk.remove(join(path, NEXT_FILE)),
    stopped: () => removeNext(path),
  });
}

async function whetherRunning(
  path: string,
  { running, stopped }: Readonly<Record<"running" | "stopped", () => Promise<void>>>,
): Promise<EndedChange> {
  const unlock = await lockFolder(path).catch(() => undefined);
  if (unlock === undefined) {
    await running();
    return { isRunning: true };
  }
  try {
    await stopped();
  } finally {
    await unlock();
  }
  return { isRunning: false };
}

async function studyIdOf(study: Study): Promise<string> {
  return studyId(await contractOf(study));
}
