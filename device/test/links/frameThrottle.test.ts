// A neighbour that never rests costs little, and its latest frame always arrives.

import { expect, test } from "vitest";
import { frameThrottle } from "../../src/links/linkKeeper.ts";
import { manualClock } from "./manualClock.ts";

function rig() {
  const clock = manualClock();
  const heard: number[] = [];
  const link = frameThrottle(clock, (frame) => heard.push(frame[0]));
  /** So many frames a second, for so long. */
  const send = (perSecond: number, seconds: number) => {
    for (let n = 0; n < perSecond * seconds; n++) {
      link.take(Uint8Array.of(n % 251));
      clock.advance(1000 / perSecond);
    }
  };
  return { clock, heard, link, send };
}

test("calm passes on all frames of a neighbour that settles, however fast it sends", () => {
  const { heard, link, send, clock } = rig();
  for (let n = 0; n < 5; n++) {
    send(100, 50);
    clock.advance(600_000);
  }
  expect(heard).toHaveLength(25_000);
  expect(link.isRestless).toBe(false);
});

test("calm slows 150 frames a second to one after a minute, and passes on the latest", () => {
  const { heard, link, send, clock } = rig();
  send(150, 40);
  expect(link.isRestless).toBe(false);
  send(150, 20);
  expect(link.isRestless).toBe(true);
  heard.length = 0;
  send(150, 60);
  expect(heard.length).toBeGreaterThanOrEqual(58);
  expect(heard.length).toBeLessThanOrEqual(60);
  link.take(Uint8Array.of(252));
  expect(link.isRestless).toBe(true);
  clock.advance(1_000);
  expect(heard.at(-1)).toBe(252);
  clock.advance(151_000);
  expect(link.isRestless).toBe(false);
  expect(clock.due()).toEqual([]);
});

test("close forgets the frame that waits", () => {
  const { heard, link, send, clock } = rig();
  send(1000, 10);
  link.take(Uint8Array.of(255));
  link.close();
  clock.advance(10_000);
  expect(heard).not.toContain(255);
});
