// What a quiet device does not do: write what is no news, measure delays, wake up for every look on its own.

import { expect, test } from "vitest";
import { daemonDelays, quietClock } from "../../src/daemon/quiet.ts";
import { statusNews } from "../../src/daemon/statusFile.ts";
import { manualClock } from "../links/manualClock.ts";
import { northStatus } from "./northStatus.ts";

test("statusNews leaves out what a settled device changes by itself, for a quarter of a minute", () => {
  const clock = manualClock();
  const isNews = statusNews(clock);
  const { device, links } = northStatus;
  expect(isNews(northStatus)).toBe(true);
  const heartbeat = {
    ...northStatus,
    writtenAt: "2026-01-01T00:00:31.000Z",
    memoryBytes: 65e6,
    delayMilliseconds: 4,
    device: { ...device, round: 13, framesSent: 41, move: 1e-9, objective: 1.5000000001, centroids: [[123.4561]] },
    links: [{ ...links[0], age: 10, framesHeard: 4, received: { frames: 4, bytes: 372 } }],
  };
  clock.advance(9_000);
  expect(isNews(heartbeat)).toBe(false);
  clock.advance(7_000);
  expect(isNews(heartbeat)).toBe(true);
  expect(isNews(heartbeat)).toBe(false);
});

test("statusNews names everything that a person would want to see at once", () => {
  const isNews = statusNews(manualClock());
  const { device, links } = northStatus;
  isNews(northStatus);
  const stranger = { peer: "x", address: "", attempts: 1, firstSeen: "", lastSeen: "" };
  const changes = [
    { device: { ...device, phase: "moving" as const } },
    { device: { ...device, rows: 101 } },
    { device: { ...device, round: device.round + 2 } },
    { device: { ...device, objective: 1.5001 } },
    { links: [{ ...links[0], isConnected: false }] },
    { links: [{ ...links[0], failure: "refused" }] },
    { links: [{ ...links[0], age: null }] },
    { links: [{ ...links[0], framesRefused: { order: 3 } }] },
    { pending: [stranger] },
    { notice: "a line" },
    { stoppedAt: "2026-01-01T00:00:02.000Z" },
  ];
  for (const change of changes) expect(isNews({ ...northStatus, ...change }), JSON.stringify(change)).toBe(true);
  const known = { ...northStatus, pending: [stranger] };
  expect(isNews(known)).toBe(true);
  expect(isNews({ ...known, pending: [{ ...stranger, attempts: 2, lastSeen: "later" }] })).toBe(false);
});

test("onTheBeat lets timers that were set at different moments end together, each once a beat", () => {
  const clock = manualClock();
  const beat = quietClock(clock, 1_000);
  const ended: number[] = [];
  const every = () => {
    ended.push(clock.now());
    beat.after(1_000, every);
  };
  clock.advance(130);
  beat.after(1_000, every);
  clock.advance(240);
  beat.after(1_000, every);
  clock.advance(2_700);
  expect(ended).toEqual([1_000, 1_000, 2_000, 2_000, 3_000, 3_000]);
});

test("busyDelays measures while the program is at work, and only then", async () => {
  let share = 0.5;
  const delays = daemonDelays(() => share);
  try {
    await expect.poll(() => delays.percentile(99)).toBeGreaterThan(0);
    delays.reset();
    await expect.poll(() => delays.percentile(99)).toBeGreaterThan(0);
    share = 0.01;
    delays.reset();
    const another = daemonDelays(() => 1);
    await expect.poll(() => another.percentile(99)).toBeGreaterThan(0);
    another.disable();
    expect(delays.percentile(99)).toBe(0);
  } finally {
    delays.disable();
  }
});
