// What can be known about a device from outside its process: whether its lock answers, whether the system has suspended
// it, and how much room is left on its disk. See health.ts for what follows from it.

import { readFile, statfs } from "node:fs/promises";
import { askLock, LOCK_ANSWER_MILLISECONDS, type LockAnswer } from "../disk/folderLock.ts";
import type { DeviceEvidence } from "./health.ts";
import type { DaemonStatus } from "./status.ts";

/** A device that answers is asked again after this time. */
const ASK_MILLISECONDS = 1_000;

/** Asks, and waits for the answer. */
export async function evidenceNow(folder: string, status: DaemonStatus): Promise<DeviceEvidence> {
  const [facts, lock] = await Promise.all([placeFacts(folder, status), askLock(folder)]);
  const answeredAt = lock === "answers" ? Date.now() : null;
  return { id: status.name, folder, status, lock, answeredAt, ...facts };
}

/** What was answered longer ago, while nobody looked, says nothing about now. */
const BELIEVED_MILLISECONDS = LOCK_ANSWER_MILLISECONDS + 3 * ASK_MILLISECONDS;

interface Watched {
  lock: LockAnswer | undefined;
  /** When the lock said so. */
  saidAt: number;
  answeredAt: number | null;
  facts: Pick<DeviceEvidence, "isSuspended" | "freeBytes">;
  isAsking: boolean;
  askedAt: number;
}

/** Answers at once with what is known, and asks behind it; one question to a device is under way at a time. */
export function evidenceReader() {
  const known = new Map<string, Watched>();
  return (id: string, folder: string, status: DaemonStatus | undefined): DeviceEvidence => {
    const watched = known.get(folder) ?? {
      lock: undefined,
      saidAt: Number.NEGATIVE_INFINITY,
      answeredAt: null,
      facts: {},
      isAsking: false,
      askedAt: Number.NEGATIVE_INFINITY,
    };
    known.set(folder, watched);
    if (!watched.isAsking && performance.now() - watched.askedAt >= ASK_MILLISECONDS) {
      Object.assign(watched, { isAsking: true, askedAt: performance.now() });
      void ask(folder, status, watched).finally(() => {
        watched.isAsking = false;
      });
    }
    const { lock, saidAt, answeredAt, facts } = watched;
    const isOfNow = performance.now() - saidAt <= BELIEVED_MILLISECONDS;
    return { id, folder, status, lock: isOfNow ? lock : undefined, answeredAt, ...facts };
  };
}

async function ask(folder: string, status: DaemonStatus | undefined, watched: Watched): Promise<void> {
  // A folder that cannot be looked into says nothing, and nothing is not well.
  const lock = await askLock(folder).catch(() => undefined);
  const facts = await placeFacts(folder, status);
  Object.assign(watched, {
    lock,
    saidAt: performance.now(),
    facts,
    ...(lock === "answers" && { answeredAt: Date.now() }),
  });
}

async function placeFacts(folder: string, status: DaemonStatus | undefined): Promise<Watched["facts"]> {
  const disk = await statfs(folder).catch(() => undefined);
  // Only Linux says so in a file; elsewhere it is not known.
  const about = await readFile(`/proc/${status?.pid}/stat`, "utf8").catch(() => "");
  return {
    isSuspended: about.slice(about.lastIndexOf(")") + 2).startsWith("T"),
    freeBytes: disk && disk.bavail * disk.bsize,
  };
}
