// What can be known about a device from outside its process: whether its lock answers, whether the system has suspended
// it, and how much room is left on its disk. See health.ts for what follows from it.

import { access, constants, readFile, statfs } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { askLock, LOCK_ANSWER_MILLISECONDS, type LockAnswer } from "../disk/folderLock.ts";
import type { DeviceEvidence } from "./health.ts";
import type { DaemonStatus } from "./status.ts";

/** A device that answers is asked again after this time. */
const ASK_MILLISECONDS = 1_000;

/** A process that the system has suspended answers as little after a longer time. */
const SUSPENDED_ANSWER_MILLISECONDS = 500;

/** Asks, and waits for the answer. */
export async function evidenceNow(folder: string, status: DaemonStatus): Promise<DeviceEvidence> {
  const { lock, facts } = await askDevice(folder, status);
  const answeredAt = lock === "answers" ? Date.now() : null;
  return { id: status.name, folder, status, lock, answeredAt, ...facts };
}

/** What was answered longer ago, while nobody looked, says nothing about now. */
const BELIEVED_MILLISECONDS = LOCK_ANSWER_MILLISECONDS + 3 * ASK_MILLISECONDS;
/** Devices are asked for so long after the last look: on a busy machine the next one may take its time. */
const LOOKED_MILLISECONDS = 60_000;

interface Watched {
  lock: LockAnswer | undefined;
  /** When the lock said so. */
  saidAt: number;
  answeredAt: number | null;
  facts: Pick<DeviceEvidence, "isSuspended" | "freeBytes" | "freeFiles" | "isReadOnly">;
  isAsking: boolean;
  lookedAt: number;
  status: DaemonStatus | undefined;
}

/** Answers at once with what is known, and asks behind it again and again; one question to a device is under way at a time. */
export function evidenceReader() {
  const known = new Map<string, Watched>();
  return (id: string, folder: string, status: DaemonStatus | undefined): DeviceEvidence => {
    const watched: Watched = known.get(folder) ?? {
      lock: undefined,
      saidAt: Number.NEGATIVE_INFINITY,
      answeredAt: null,
      facts: {},
      isAsking: false,
      lookedAt: 0,
      status,
    };
    known.set(folder, Object.assign(watched, { lookedAt: performance.now(), status }));
    if (!watched.isAsking) void askAgain(folder, watched);
    const { lock, saidAt, answeredAt, facts } = watched;
    const isOfNow = performance.now() - saidAt <= BELIEVED_MILLISECONDS;
    return { id, folder, status, lock: isOfNow ? lock : undefined, answeredAt, ...facts };
  };
}

async function askAgain(folder: string, watched: Watched): Promise<void> {
  watched.isAsking = true;
  while (performance.now() - watched.lookedAt < LOOKED_MILLISECONDS) {
    // A folder that cannot be looked into says nothing, and nothing is not well.
    const { lock, facts } = await askDevice(folder, watched.status).catch(() => ({ lock: undefined, facts: {} }));
    const answeredAt = lock === "answers" ? Date.now() : watched.answeredAt;
    Object.assign(watched, { lock, facts, answeredAt, saidAt: performance.now() });
    await pause(ASK_MILLISECONDS, undefined, { ref: false });
  }
  watched.isAsking = false;
}

async function askDevice(folder: string, status: DaemonStatus | undefined) {
  const facts = await placeFacts(folder, status);
  const lock = await askLock(folder, facts.isSuspended ? SUSPENDED_ANSWER_MILLISECONDS : LOCK_ANSWER_MILLISECONDS);
  return { lock, facts };
}

async function placeFacts(folder: string, status: DaemonStatus | undefined): Promise<Watched["facts"]> {
  const disk = await statfs(folder).catch(() => undefined);
  const fault = await access(folder, constants.W_OK).catch(({ code }: NodeJS.ErrnoException) => code);
  // Only Linux says so in a file; elsewhere it is not known.
  const about = await readFile(`/proc/${status?.pid}/stat`, "utf8").catch(() => "");
  return {
    isSuspended: about.slice(about.lastIndexOf(")") + 2).startsWith("T"),
    freeBytes: disk && disk.bavail * disk.bsize,
    // Some file systems count no files.
    freeFiles: disk && disk.files > 0 ? disk.ffree : undefined,
    isReadOnly: fault === "EROFS",
  };
}
