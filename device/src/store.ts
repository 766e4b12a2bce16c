// A device's memory on disk: when its state is saved and loaded, an epoch that never goes back, one device per folder.

import { join } from "node:path";
import { type Clock, realClock } from "./clock.ts";
import { type Disk, realDisk } from "./disk.ts";
import { lockFolder } from "./lock.ts";
import type { Memory, SavedState } from "./memory.ts";
import { STATE_MILLISECONDS } from "./pace.ts";
import { reasonOf } from "./reason.ts";
import { type Generations, generations } from "./stateFile.ts";

export interface StoreOptions {
  readonly disk?: Disk;
  readonly clock?: Clock;
  /** Milliseconds since 1970. It may jump; epochs do not follow it back. */
  readonly wallClock?: () => number;
}

export interface Store extends Memory {
  /** Writes the latest state and unlocks the folder. */
  close(): Promise<void>;
}

/** Opens the memory of the device in a folder; `warn` gets one line about everything that is lost or not kept. */
export async function openStore(
  folder: string,
  warn: (line: string) => void,
  { disk = realDisk, clock = realClock, wallClock = Date.now }: StoreOptions = {},
): Promise<Store> {
  const unlock = await lockFolder(folder);
  try {
    await removeLeftovers(folder, disk);
    const epoch = await nextEpoch(folder, disk, wallClock());
    const states = generations(join(folder, "state"), disk);
    const saved = await loadState(states, folder, warn);
    const keeper = stateKeeper(states, clock, warn);
    return {
      epoch,
      saved,
      keep: keeper.keep,
      async close() {
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
    if (/^(state|epoch)\.[ab]\.[0-9a-f]+\.tmp$/.test(name)) await disk.remove(join(folder, name));
  }
}

async function nextEpoch(folder: string, disk: Disk, wallClock: number): Promise<number> {
  const epochs = generations(join(folder, "epoch"), disk);
  const { newest, damaged } = await epochs.load();
  if (newest === undefined && damaged > 0) {
    // Starting afresh could go back, and then no neighbour would hear this device again.
    const rule = "must be readable; remove both if the machine's clock is right, so that a new epoch is taken from it";
    throw new Error(`${join(folder, "epoch")}.a or .b ${rule}`);
  }
  const last = newest === undefined ? 0 : Number(new TextDecoder().decode(newest.payload));
  const epoch = Math.max(last + 1, Math.floor(wallClock));
  const payload = new TextEncoder().encode(String(epoch));
  // Both copies, so that losing one does not go back either.
  await epochs.save(payload);
  await epochs.save(payload);
  return epoch;
}

async function loadState(
  states: Generations,
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

/** Writes the latest state now and then, one write at a time. */
function stateKeeper(states: Generations, clock: Clock, warn: (line: string) => void) {
  let latest: (() => SavedState) | undefined;
  let failure: string | undefined;
  let cancel: (() => void) | undefined;
  let writing: Promise<void> | undefined;
  let nextAt = clock.now();

  const write = async () => {
    const state = latest;
    if (state === undefined) return;
    latest = undefined;
    try {
      await states.save(new TextEncoder().encode(JSON.stringify(state())));
      failure = undefined;
    } catch (error) {
      // The old state is still there. A newer one may have come meanwhile; else this one is tried again.
      latest ??= state;
      const reason = reasonOf(error);
      if (reason !== failure) warn(`the state is not kept, the one before stays: ${reason}`);
      failure = reason;
    }
  };
  const schedule = () => {
    if (cancel !== undefined || writing !== undefined || latest === undefined) return;
    cancel = clock.after(Math.max(0, nextAt - clock.now()), () => {
      cancel = undefined;
      nextAt = clock.now() + STATE_MILLISECONDS;
      writing = write().then(() => {
        writing = undefined;
        schedule();
      });
    });
  };
  return {
    keep(state: () => SavedState) {
      latest = state;
      schedule();
    },
    async close() {
      // Also stops the schedule that the end of a write would set.
      const last = latest;
      latest = undefined;
      cancel?.();
      await writing;
      cancel?.();
      latest = last ?? latest;
      await write();
      latest = undefined;
    },
  };
}
