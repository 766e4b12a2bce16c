// The status file of a running device: written whole, when it says something else than the last one, now and then, and at the end.

import { rename, writeFile } from "node:fs/promises";
import { type Clock, reasonOf } from "../environment.ts";
import { STATUS_LOOK_MILLISECONDS, STATUS_MILLISECONDS, STATUS_QUIET_MILLISECONDS } from "../wire/limits.ts";
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
function newsOf({ writtenAt, memoryBytes, delayMilliseconds, failedWrites, ...news }: DaemonStatus): string {
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
