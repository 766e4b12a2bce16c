// Which statuses are worth writing to the disk: those that say something else than the last one, and one now and then.

import type { Clock } from "../environment.ts";
import { STATUS_QUIET_MILLISECONDS } from "../pace.ts";
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
