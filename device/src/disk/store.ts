// A device's memory on disk: when its state is saved and loaded, an epoch that never goes back, one device per folder.

import { join } from "node:path";
import { type Clock, realClock } from "../environment.ts";
import type { DeviceMemory, SavedState } from "../loop/savedState.ts";
import { type Disk, latestKeeper, realDisk, writeReason } from "./disk.ts";
import { lockFolder } from "./folderLock.ts";
import { endHistory, openHistory, openNeighbourHeads } from "./historyStore.ts";
import { saveBothCopies, type TwoCopies, twoCopies } from "./stateFile.ts";

export interface StoreOptions {
  readonly disk?: Disk;
  readonly clock?: Clock;
  /** Milliseconds since 1970. It may jump; epochs do not follow it back. */
  readonly wallClock?: () => number;
  /** Whether what is published is written down. In a study that is open the history ends. Default false. */
  readonly hasHistory?: boolean;
}

/** What is lost or not kept, in one line; undefined: it is kept again. */
export type StoreNotice = (cause: "state" | "epoch", line: string | undefined) => void;

export interface Store extends DeviceMemory {
  goAbove(epoch: number): void;
  /** Writes the latest state now. */
  flush(): Promise<void>;
  /** Writes of the state that failed since it was opened. */
  failedWrites(): number;
  /** Writes the latest state and unlocks the folder. */
  close(): Promise<void>;
}

/** Opens the memory of the device in a folder. */
export async function openStore(
  folder: string,
  notice: StoreNotice,
  { disk = realDisk, clock = realClock, wallClock = Date.now, hasHistory = false }: StoreOptions = {},
): Promise<Store> {
  const unlock = await lockFolder(folder);
  try {
    await removeLeftovers(folder, disk);
    if (!hasHistory) await endHistory(folder, disk);
    const history = hasHistory ? await openHistory(folder, disk) : undefined;
    const neighbourHeads = hasHistory ? await openNeighbourHeads(folder, disk, clock) : undefined;
    const epochs = epochsOf(folder, disk);
    const epoch = await nextEpoch(folder, epochs, wallClock());
    const states = twoCopies(join(folder, "state"), disk);
    const saved = await loadState(states, folder, (line) => notice("state", line));
    const keeper = stateKeeper(states, clock, (line) => notice("state", line));
    const raiser = epochRaiser(epochs, epoch, (line) => notice("epoch", line));
    return {
      epoch,
      saved,
      keep: keeper.keep,
      flush: keeper.flush,
      ...(history && { history }),
      ...(neighbourHeads && { neighbourHeads }),
      goAbove: raiser.goAbove,
      failedWrites: keeper.failedWrites,
      async close() {
        await raiser.close();
        await history?.close();
        await neighbourHeads?.close();
        await keeper.close();
        await unlock();
      },
    };
  } catch (error) {
    await unlock();
    throw error;
  }
}

/** What a crash in the middle of a save left behind. */
async function removeLeftovers(folder: string, disk: Disk): Promise<void> {
  for (const name of await disk.list(folder)) {
    if (/^(state|epoch|history|heads)\.[ab]\.[0-9a-f]+\.tmp$/.test(name)) await disk.remove(join(folder, name));
  }
}

/** The epoch of the last start of the device in a folder; 0: it has not run. */
export async function readEpochFile(folder: string): Promise<number> {
  return lastEpoch(folder, epochsOf(folder, realDisk));
}

/** The next start's epoch will be above this one. */
export async function writeEpochFile(folder: string, epoch: number): Promise<void> {
  const epochs = epochsOf(folder, realDisk);
  await epochs.load();
  await saveBothCopies(epochs, new TextEncoder().encode(String(epoch)));
}

const epochsOf = (folder: string, disk: Disk) => twoCopies(join(folder, "epoch"), disk);

async function lastEpoch(folder: string, epochs: TwoCopies): Promise<number> {
  const { newest, damaged } = await epochs.load();
  if (newest === undefined && damaged > 0) {
    // Starting afresh could go back, and then no neighbour would hear this device again.
    const rule = "must be readable; remove both if the machine's clock is right, so that a new epoch is taken from it";
    throw new Error(`${join(folder, "epoch")}.a or .b ${rule}`);
  }
  return newest === undefined ? 0 : Number(new TextDecoder().decode(newest.payload));
}

async function nextEpoch(folder: string, epochs: TwoCopies, wallClock: number): Promise<number> {
  const epoch = Math.max((await lastEpoch(folder, epochs)) + 1, Math.floor(wallClock));
  try {
    await saveBothCopies(epochs, new TextEncoder().encode(String(epoch)));
  } catch (error) {
    const rule = "must be written before anything is sent, free the disk or check the folder's owner";
    throw new Error(`${join(folder, "epoch")}.a and .b ${rule}: ${writeReason(error)}`, { cause: error });
  }
  return epoch;
}

/** Writes down that the next start must have a larger epoch than was thought, one write at a time. */
function epochRaiser(epochs: TwoCopies, epoch: number, warn: (line: string | undefined) => void) {
  let highest = epoch;
  let writing: Promise<void> = Promise.resolve();
  return {
    goAbove(heard: number) {
      if (heard <= highest) return;
      highest = heard;
      writing = writing
        .then(() => saveBothCopies(epochs, new TextEncoder().encode(String(heard))))
        .then(
          () => warn(undefined),
          (error) => {
            // Whoever named it names it again.
            highest = epoch;
            warn(`the epoch for the next start is not kept: ${writeReason(error)}`);
          },
        );
    },
    close: () => writing,
  };
}

export async function loadState(
  states: TwoCopies,
  folder: string,
  warn: (line: string) => void,
): Promise<SavedState | undefined> {
  const { newest, damaged } = await states.load();
  if (newest === undefined) {
    if (damaged > 0) warn(`the state in ${folder} is damaged; the device starts afresh from its data`);
    return undefined;
  }
  if (damaged > 0) warn(`one of two copies of the state in ${folder} is damaged; the other one is used`);
  return JSON.parse(new TextDecoder().decode(newest.payload));
}

/** Writes the latest state now and then; see `latestKeeper`. */
export function stateKeeper(states: TwoCopies, clock: Clock, warn: (line: string | undefined) => void) {
  const save = (state: () => SavedState) => states.save(new TextEncoder().encode(JSON.stringify(state())));
  return latestKeeper(clock, save, (reason) => {
    warn(reason && `the state is not kept, the one before stays: ${reason}`);
  });
}
