// A running device follows its owner's change of study: it begins when next.yaml is there, and ends when all have followed.

import { join } from "node:path";
import { type ChangingDevice, isWithoutRows } from "../change/changingDevice.ts";
import { realDisk } from "../disk/disk.ts";
import type { Store } from "../disk/store.ts";
import { reasonOf } from "../reason.ts";
import type { DeviceRows } from "../study/remoteRows.ts";
import { contractOf, type Study, studyId } from "../study/study.ts";
import type { DaemonParts } from "./describe.ts";
import { lookOf, MISSING } from "./fileWatch.ts";
import type { DeviceFolder } from "./folder.ts";
import { completeSwitch, NOW_FILE, readNext, removeNext, switchStudy } from "./nextFiles.ts";
import { type NextStore, openNext } from "./nextStore.ts";
import type { Log } from "./notices.ts";
import type { RowSource } from "./rowSource.ts";
import { rowsFault } from "./rows.ts";

export interface StudyChange {
  /** The owner changed what is to be; returns whether that could be followed. */
  follow(device: ChangingDevice): Promise<boolean>;
  /** The next study takes over, on the disk and in the device. */
  finish(device: ChangingDevice): Promise<void>;
  close(): Promise<void>;
}

/** `restart` makes the daemon start again, as with a new key. */
export function studyChange(
  folder: DeviceFolder,
  parts: DaemonParts,
  store: Store,
  { log, desk, restart }: { readonly log: Log; readonly desk: RowSource; restart(): void },
): StudyChange {
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
    const rows = await rowsOfNext(desk, parts.study, study);
    const opened = await openNext(path, store, warn);
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
    const setAside = await switchStudy(path, new Date());
    const isAnew = isWithoutRows(parts.study, next);
    device.finish();
    parts.study = next;
    parts.next = undefined;
    await memory.takeOver();
    memory = undefined;
    await completeSwitch(path);
    const counts = desk.countsOf(next);
    if (counts !== undefined) notices.set("rows", rowsFault(next, counts));
    log.info({ study: next.name, setAside }, "the study was changed");
    // With its rows, and with what was published of them before.
    if (isAnew) restart();
  };
  /** The owner wants the study before to end, whoever has not followed. */
  const endNow = async (device: ChangingDevice) => {
    const file = join(path, NOW_FILE);
    if ((await lookOf([file])) === MISSING) return;
    const { next } = device.change();
    if (next === null) await realDisk.remove(file);
    else if (next.device.centroids === null && !isWithoutRows(parts.study, parts.next ?? parts.study))
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
    follow: (device) =>
      inTurn(() =>
        trying(async () => {
          const next = await readNext(path);
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
          if (next !== undefined && isWanted && device.change().next === null) {
            await begin(device, next);
          }
          await endNow(device);
        }),
      ),
    async finish(device) {
      await inTurn(() => trying(() => take(device)));
    },
    async close() {
      await working;
      await memory?.close();
    },
  };
}

/** The rows of the study that a device is changing to. */
export async function rowsOfNext(desk: RowSource, current: Study, next: Study): Promise<DeviceRows> {
  if (!isWithoutRows(current, next)) return (await desk.open(next)).rows;
  return { data: new Float64Array(0), rows: 0, cols: next.features.length };
}
