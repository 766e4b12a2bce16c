// status.json: how a running device writes it, whole, when it says something else than the last one, now and then, and at
// the end; and how other programs read it.

import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, reasonOf } from "../environment.ts";
import { approvedStudy, isSettled } from "../loop/status.ts";
import { STATUS_LOOK_MILLISECONDS, STATUS_MILLISECONDS, STATUS_QUIET_MILLISECONDS } from "../wire/limits.ts";
import { watchedFilesNow } from "./fileWatch.ts";
import { lastStatus, STATUS_FILE } from "./lastStatus.ts";
import type { DaemonStatus } from "./status.ts";

/** Returns whether a status is to be written, given those that it was asked about before. */
export function statusNews(clock: Clock): (status: DaemonStatus) => boolean {
  let written: string | undefined;
  let round = 0;
  let writtenAt = Number.NEGATIVE_INFINITY;
  return (status) => {
    const now = clock.now();
    const news = newsOf(status);
    // A heartbeat is one round.
    const isAtWork = status.device.round - round > 1;
    round = status.device.round;
    if (!isAtWork && news === written && now - writtenAt < STATUS_QUIET_MILLISECONDS) return false;
    written = news;
    writtenAt = now;
    return true;
  };
}

/** All but what a settled device changes by itself: counters, ages, memory, and moves that nobody is sent. */
function newsOf({ writtenAt, memoryBytes, delayMilliseconds, failedWrites, trend, ...news }: DaemonStatus): string {
  const { device, links, pending, relay, ...rest } = news;
  const { round, move, threshold, framesSent, centroids, objective, drift, ...own } = device;
  return JSON.stringify([
    rest,
    own,
    [relay?.reservations, relay?.circuits],
    objective?.toPrecision(6),
    links.map(({ age, framesHeard, sent, received, replaced, rejected, ...link }) => [link, age === null]),
    pending.map(({ peer }) => peer),
  ]);
}

/** `onWrite` learns of every write whether it failed, and why. Returns how to stop, after the last status is written. */
export function reportStatus(
  file: string,
  clock: Clock,
  status: () => DaemonStatus,
  onWrite: (failure: string | undefined) => void,
): () => Promise<void> {
  let isStopped = false;
  let hasFailed = false;
  let cancel = () => {};
  let writing: Promise<void> = Promise.resolve();
  const isNews = statusNews(clock);
  const write = async () => {
    let wait = STATUS_LOOK_MILLISECONDS;
    try {
      const now = status();
      if (isNews(now) || isStopped || hasFailed) {
        wait = STATUS_MILLISECONDS;
        await writeStatus(file, now);
        hasFailed = false;
        onWrite(undefined);
      }
    } catch (error) {
      hasFailed = true;
      onWrite(reasonOf(error));
    }
    if (!isStopped) cancel = clock.after(wait, next);
  };
  const next = () => {
    writing = write();
  };
  next();
  return async () => {
    isStopped = true;
    cancel();
    await writing;
    await write();
  };
}

/** Not synced to the disk: after a crash the next start writes a new one. */
async function writeStatus(file: string, status: DaemonStatus): Promise<void> {
  await writeFile(`${file}.new`, `${JSON.stringify(status)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/** Reads a status again when its file has changed: those of many devices are long, and most of the time they are quiet. */
export function statusReader(): (folder: string) => DaemonStatus | undefined {
  return whenChanged(STATUS_FILE, lastStatus);
}

/** What is read of a file in a folder, read again only when the file is another one than before. */
export function whenChanged<T>(name: string, read: (folder: string) => T): (folder: string) => T {
  const cache = new Map<string, { readonly version: string; readonly content: T }>();
  return (folder) => {
    const version = watchedFilesNow(join(folder, name));
    const last = cache.get(folder);
    if (last?.version === version) return last.content;
    const content = read(folder);
    cache.set(folder, { version, content });
    // What could not be read is tried again.
    if (content instanceof Promise) content.catch(() => cache.delete(folder));
    return content;
  };
}

/** Whether a device has settled that may not have written anything yet; see `isSettled` for `enoughMove`. */
export function hasDaemonSettled(status: DaemonStatus | undefined, enoughMove?: number): boolean {
  // From a study that is closed now the device goes on to what follows from it.
  if (status === undefined || approvedStudy(status.device.shared) !== undefined) return false;
  return isSettled(status.device, status.links, enoughMove);
}
