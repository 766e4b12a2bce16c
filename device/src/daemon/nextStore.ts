// The memory of a study that a device is changing to: in files of its own, under the same epoch, until it takes over.

import { join } from "node:path";
import { realDisk } from "../disk/disk.ts";
import { twoCopies } from "../disk/stateFile.ts";
import { loadState, type Store, stateKeeper } from "../disk/store.ts";
import { realClock } from "../environment.ts";
import type { DeviceMemory, SavedState } from "../loop/savedState.ts";

/** `next.a` and `next.b`. */
const NEXT_STATE = "next";

export interface NextStore extends DeviceMemory {
  /** From now on it is what the store keeps. */
  takeOver(): Promise<void>;
  close(): Promise<void>;
}

export async function openNext(
  folder: string,
  store: Store,
  warn: (line: string | undefined) => void,
): Promise<NextStore> {
  const states = twoCopies(join(folder, NEXT_STATE), realDisk);
  const saved = await loadState(states, folder, warn);
  const keeper = stateKeeper(states, realClock, warn);
  let latest: (() => SavedState) | undefined = saved && (() => saved);
  let keep = keeper.keep;
  return {
    epoch: store.epoch,
    saved,
    goAbove: store.goAbove,
    keep(state) {
      latest = state;
      keep(state);
    },
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
export async function adoptNext(folder: string, study: string): Promise<void> {
  const { newest } = await twoCopies(join(folder, NEXT_STATE), realDisk).load();
  const states = twoCopies(join(folder, "state"), realDisk);
  const { newest: present } = await states.load();
  if (newest !== undefined && studyIn(present?.payload) !== study) await states.save(newest.payload);
}

export async function removeNextState(folder: string): Promise<void> {
  for (const name of [`${NEXT_STATE}.a`, `${NEXT_STATE}.b`]) await realDisk.remove(join(folder, name));
}

function studyIn(payload: Uint8Array | undefined): string | undefined {
  return payload && (JSON.parse(new TextDecoder().decode(payload)) as SavedState).study;
}
