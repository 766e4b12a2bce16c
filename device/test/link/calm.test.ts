// A neighbour that never rests costs little, is named once, and its latest frame always arrives.

import { expect, test } from "vitest";
import { calm } from "../../src/link/calm.ts";
import { manualClock } from "./manualClock.ts";

function rig() {
  const clock = manualClock();
  const heard: number[] = [];
  const named: number[] = [];
  const link = calm(
    clock,
    (frame) => heard.push(frame[0]),
    () => named.push(clock.now() / 1000),
  );
  /** So many frames a second, for so long. */
  const send = (perSecond: number, seconds: number) => {
    for (let n = 0; n < perSecond * seconds; n++) {
      link.take(Uint8Array.of(n % 251));
      clock.advance(1000 / perSecond);
    }
  };
  return { clock, heard, named, link, send };
}

test("calm passes on all frames of a neighbour that settles, however fast it sends", () => {
  const { heard, named, link, send, clock } = rig();
  for (let n = 0; n < 5; n++) {
    send(100, 50);
    clock.advance(600_000);
  }
  expect(heard).toHaveLength(25_000);
  expect(named).toEqual([]);
  expect(link.isRestless).toBe(false);
});

test("calm slows 150 frames a second to 10 after a minute, names it once, and passes on the latest", () => {
  const { heard, named, link, send, clock } = rig();
  send(150, 60);
  expect(named).toHaveLength(1);
  expect(named[0]).toBeGreaterThan(40);
  heard.length = 0;
  send(150, 60);
  expect(heard.length).toBeGreaterThan(590);
  expect(heard.length).toBeLessThan(610);
  link.take(Uint8Array.of(252));
  expect(link.isRestless).toBe(true);
  clock.advance(200);
  expect(heard.at(-1)).toBe(252);
  clock.advance(301_000);
  expect(link.isRestless).toBe(false);
  expect(named).toHaveLength(1);
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
