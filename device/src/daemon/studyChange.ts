// A change of study in a state folder: next.yaml and the memory of the next study while it is under way, study.yaml when it
// is done; and how a running device follows its owner's change until all neighbours have.

import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type ChangingDevice, isChangeWithoutRows } from "../change/changingDevice.ts";
import { durableWrite, explainDamage, realDisk } from "../disk/disk.ts";
import { ifFolderLocked } from "../disk/folderLock.ts";
import { copyAside, STATE_FILES, twoCopies } from "../disk/stateFile.ts";
import { loadState, type Store, stateKeeper } from "../disk/store.ts";
import { realClock, reasonOf } from "../environment.ts";
import type { DeviceMemory, SavedState } from "../loop/savedState.ts";
import { approvedStudy } from "../loop/status.ts";
import { absentRows, type DeviceRows } from "../study/remoteRows.ts";
import { contractOf, formatStudy, parseStudy, type Study } from "../study/study.ts";
import { studyId } from "../wire/frames.ts";
import { MISSING, watchedFilesNow } from "./fileWatch.ts";
import { type DeviceFolder, foundedInFile } from "./folder.ts";
import { STUDY_FILE } from "./folderFacts.ts";
import type { Log } from "./notices.ts";
import type { RowSource } from "./rowSource.ts";
import type { DaemonParts, DaemonStatus } from "./status.ts";

/** The study that the owner accepted. A running device that finds it changes to it. */
export const NEXT_FILE = "next.yaml";
/** A running device that finds it ends the study before, whoever has not followed. */
export const NOW_FILE = "next.now";

/** Undefined: there is no change. Throws one line that names the file if it is damaged. */
export async function readNextInFolder(path: string): Promise<Study | undefined> {
  const file = join(path, NEXT_FILE);
  const bytes = await realDisk.read(file);
  if (bytes === undefined) return undefined;
  return explainDamage(file, "must be the study to change to", () =>
    foundedInFile(parseStudy(new TextDecoder().decode(bytes))),
  );
}

/** Writes the study that comes after the present one. */
export async function writeNextInFolder(path: string, study: Study): Promise<void> {
  await durableWrite(join(path, NEXT_FILE), formatStudy(foundedInFile(study)));
}

/** The next study becomes the study; what the device had of the one before is set aside. Returns where. */
export async function switchStudyInFolder(path: string, at: Date): Promise<string | undefined> {
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
  const next = await readNextInFolder(path).catch(() => undefined);
  if (next === undefined) return;
  const id = await studyIdOf(next);
  const current = parseStudy(await readFile(join(path, STUDY_FILE), "utf8"));
  if ((await studyIdOf(current)) !== id) return;
  await adoptNext(path, id);
  await removeNext(path);
}

/** Ends a change. The study is removed last, so that nothing of it is left behind. */
async function removeNext(path: string): Promise<void> {
  const names = [`${NEXT_STATE}.a`, `${NEXT_STATE}.b`, NOW_FILE, NEXT_FILE];
  for (const name of names) await realDisk.remove(join(path, name));
}

/** Ends the study before at once, whoever has not followed. Returns whether the device runs: it follows within a few seconds. */
export function finishChangeInFolder(path: string, at: Date): Promise<boolean> {
  return ifFolderLocked(path, {
    running: () => durableWrite(join(path, NOW_FILE), `${at.toISOString()}\n`),
    async stopped() {
      await switchStudyInFolder(path, at);
      await completeSwitch(path);
    },
  });
}

/** Goes back to the study before. Returns whether the device runs: it follows within a few seconds. */
export function withdrawChangeInFolder(path: string): Promise<boolean> {
  return ifFolderLocked(path, {
    running: () => realDisk.remove(join(path, NEXT_FILE)),
    stopped: () => removeNext(path),
  });
}

async function studyIdOf(study: Study): Promise<string> {
  return studyId(await contractOf(study));
}

/** `next.a` and `next.b`. */
const NEXT_STATE = "next";

type NextStore = Awaited<ReturnType<typeof openNextInFolder>>;

export async function openNextInFolder(folder: string, store: Store, warn: (line: string | undefined) => void) {
  const states = twoCopies(join(folder, NEXT_STATE), realDisk);
  const saved = await loadState(states, folder, warn);
  const keeper = stateKeeper(states, realClock, warn);
  let latest: (() => SavedState) | undefined = saved && (() => saved);
  let keep = keeper.keep;
  const memory: DeviceMemory = {
    epoch: store.epoch,
    saved,
    goAbove: store.goAbove,
    keep(state) {
      latest = state;
      keep(state);
    },
  };
  return {
    ...memory,
    /** From now on it is what the store keeps. */
    async takeOver() {
      keep = store.keep;
      if (latest !== undefined) store.keep(latest);
      await store.flush();
      await keeper.close();
    },
    close: keeper.close,
  };
}

/** The state of a study that has taken over is put where the device looks for it, if that was not done in time. */
async function adoptNext(folder: string, study: string): Promise<void> {
  const { newest } = await twoCopies(join(folder, NEXT_STATE), realDisk).load();
  const states = twoCopies(join(folder, "state"), realDisk);
  const { newest: present } = await states.load();
  if (newest !== undefined && studyIn(present?.payload) !== study) await states.save(newest.payload);
}

function studyIn(payload: Uint8Array | undefined): string | undefined {
  return payload && (JSON.parse(new TextDecoder().decode(payload)) as SavedState).study;
}

/** `restart` makes the daemon start again, as with a new key. */
// Long: one closure over the change under way, whose steps go on from each other.
export function studyChange(
  folder: DeviceFolder,
  parts: DaemonParts,
  store: Store,
  { log, source, restart }: { readonly log: Log; readonly source: RowSource; restart(): void },
) {
  const { notices } = parts;
  const { path } = folder;
  const warn = (line: string | undefined) => notices.set("next", line);
  let memory: NextStore | undefined;
  // One at a time: what follows depends on what was done before.
  let working: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = working.then(work);
    working = done.catch(() => undefined);
    return done;
  };

  const begin = async (device: ChangingDevice, study: Study) => {
    const contract = await contractOf(study);
    const rows = await nextRowsOfSource(source, parts.study, study);
    const opened = await openNextInFolder(path, store, warn);
    try {
      device.begin({ study, contract, rows, memory: opened });
    } catch (error) {
      await opened.close();
      throw error;
    }
    memory = opened;
    parts.next = study;
    log.info({ study: study.name, hash: studyId(contract) }, "a change of study has begun");
  };
  const leave = async () => {
    parts.next = undefined;
    await memory?.close();
    memory = undefined;
  };
  const take = async (device: ChangingDevice) => {
    const next = parts.next;
    if (next === undefined || memory === undefined) return;
    const setAside = await switchStudyInFolder(path, new Date());
    const isAnew = isChangeWithoutRows(parts.study, next);
    device.finish();
    parts.study = next;
    parts.next = undefined;
    await memory.takeOver();
    memory = undefined;
    await completeSwitch(path);
    notices.set("rows", source.faultOf(next));
    log.info({ study: next.name, setAside }, "the study was changed");
    // With its rows, and with what was published of them before.
    if (isAnew) restart();
  };
  /** The owner wants the study before to end, whoever has not followed. */
  const endNow = async (device: ChangingDevice) => {
    const file = join(path, NOW_FILE);
    if (watchedFilesNow(file) === MISSING) return;
    const { next } = device.change();
    if (next === null) await realDisk.remove(file);
    else if (next.device.centroids === null && !isChangeWithoutRows(parts.study, parts.next ?? parts.study))
      throw new Error("there is no answer in the new study yet");
    else await take(device);
  };
  const trying = async (work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      warn(undefined);
      return true;
    } catch (error) {
      warn(`the change of study does not go on, all stays as before: ${reasonOf(error)}`);
      return false;
    }
  };

  return {
    /** The owner changed what is to be; returns whether that could be followed. */
    follow: (device: ChangingDevice) =>
      inTurn(() =>
        trying(async () => {
          const next = await readNextInFolder(path);
          const wanted = next && studyId(await contractOf(next));
          const change = device.change();
          // Also what is left after a change that is done.
          const isWanted = wanted !== undefined && wanted !== change.study;
          if (change.next !== null && change.next.study !== wanted) {
            device.withdraw();
            await leave();
            if (!isWanted) await removeNext(path);
            log.info({}, "the change of study was withdrawn");
          }
          if (next !== undefined && isWanted && device.change().next === null) await begin(device, next);
          await endNow(device);
        }),
      ),
    /** From an open study to the closed one, once everybody has approved of it; a change like any other. */
    goOn({ device: { shared } }: Pick<DaemonStatus, "device">) {
      const study = approvedStudy(shared);
      if (study === undefined || parts.next !== undefined) return;
      void inTurn(() =>
        trying(async () => {
          if ((await readNextInFolder(path)) === undefined) await writeNextInFolder(path, parseStudy(study));
        }),
      );
    },
    /** The next study takes over, on the disk and in the device. */
    async finish(device: ChangingDevice) {
      await inTurn(() => trying(() => take(device)));
    },
    async close() {
      await working;
      await memory?.close();
    },
  };
}

/** The rows of the study that a device is changing to; none yet where they must wait. */
export async function nextRowsOfSource(source: RowSource, current: Study, next: Study): Promise<DeviceRows> {
  if (!isChangeWithoutRows(current, next)) return (await source.open(next)).rows;
  return absentRows(next.features.length);
}
