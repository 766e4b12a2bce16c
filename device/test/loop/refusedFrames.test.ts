// Stamps that go back, between whole devices: a clock that ran ahead before a backup was restored, and one key used twice.

import { type Matrix, matrix } from "@fedkm/core";
import { expect, test } from "vitest";
import { createDevice } from "../../src/change/studyLoop.ts";
import type { NetworkListener } from "../../src/environment.ts";
import type { Device } from "../../src/loop/device.ts";
import { volatileMemory } from "../../src/loop/savedState.ts";
import { simulatedClock } from "../../src/simulation/clock.ts";
import { contractOf } from "../../src/study/study.ts";
import { LARGEST_LEARNT_EPOCH } from "../../src/wire/limits.ts";
import { encodeOrderFrame } from "../../src/wire/studyFrames.ts";
import { emptyNetwork, studyWith } from "../problem.ts";

const MINUTE = 60_000;
const study = studyWith();
const contract = await contractOf(study);

function rows(shift: number): Matrix {
  return matrix(Array.from({ length: 30 }, (_, i) => [shift + 10 * (i % 3) + (i % 7) / 7, 10 * (i % 3) + (i % 5) / 5]));
}

/** Devices that hear each other at once, on one clock; several may be called the same. */
function town() {
  const clock = simulatedClock();
  const running: { name: string; peer: string; listener: NetworkListener }[] = [];
  const start = async (name: string, peer: string, epoch: number) => {
    const around = emptyNetwork();
    let above = epoch;
    const goAbove = (heard: number) => {
      above = Math.max(above, heard);
    };
    const memory = { ...volatileMemory(epoch), goAbove };
    const network = {
      ...around.network,
      send: (_: string, frame: Uint8Array) => {
        const to = running.filter((other) => other.name === peer && other.peer === name);
        for (const { listener } of to) clock.after(1, () => listener.onFrame(name, frame));
      },
    };
    const device = createDevice({ study, contract, network, clock, memory, links: [peer], rows: rows(epoch % 3) });
    await device.start();
    const own = { name, peer, listener: around.listener };
    running.push(own);
    for (const other of running.filter((one) => one.name === peer)) {
      other.listener.onConnect(name);
      own.listener.onConnect(peer);
    }
    const stop = () => {
      running.splice(running.indexOf(own), 1);
      device.stop();
    };
    return { device, stop, listener: around.listener, above: () => above };
  };
  const run = (milliseconds: number) => {
    const until = clock.now() + milliseconds;
    while (clock.step(until));
  };
  return { start, run };
}

const linkOf = (device: Device) => device.status().neighbours[0];

test("a device that began again under an earlier epoch is told which one to go above, and is heard after its next start", async () => {
  const { start, run } = town();
  const south = await start("south", "north", 7);
  const ahead = await start("north", "south", 5_000);
  run(MINUTE);
  expect(linkOf(south.device)).toMatchObject({ conflict: null, framesRefused: {} });
  ahead.stop();
  const restored = await start("north", "south", 1_000);
  run(MINUTE);
  expect(linkOf(south.device).conflict).toMatch(/^is refused: it sent later frames before/);
  expect(linkOf(restored.device).conflict).toMatch(/^refuses this device: .* start this device again$/);
  expect(restored.above()).toBe(5_000);
  restored.stop();
  const heardBefore = linkOf(south.device).framesHeard;
  const again = await start("north", "south", restored.above() + 1);
  run(MINUTE);
  expect(linkOf(south.device).framesHeard).toBeGreaterThan(heardBefore);
  expect([linkOf(south.device).conflict, linkOf(again.device).conflict]).toEqual([null, null]);
});

test("a key that two devices use is named on both and on their neighbour, until ten minutes after one has stopped", async () => {
  for (const epochs of [
    [1_000, 2_000],
    [2_000, 1_000],
    [1_000, 1_000],
  ]) {
    const { start, run } = town();
    const south = await start("south", "north", 7);
    const one = await start("north", "south", epochs[0]);
    const two = await start("north", "south", epochs[1]);
    run(2 * MINUTE);
    expect(linkOf(south.device).conflict, `${epochs}`).toMatch(/^runs twice with the same key: /);
    for (const { device } of [one, two]) {
      expect(linkOf(device).conflict, `${epochs}`).toMatch(/^hears this device twice: /);
    }
    // Neither of them overtakes the other while both run.
    expect([one, two].map(({ device }) => device.status().epoch)).toEqual(epochs);
    two.stop();
    run(9 * MINUTE);
    expect(linkOf(south.device).conflict, `${epochs}`).not.toBeNull();
    run(3 * MINUTE);
    // The one that is left may be the older one, which is refused until it is started again.
    const isOlder = epochs[0] < epochs[1];
    const left = isOlder ? [/^is refused: it sent later frames/, /^refuses this device/] : [null, null];
    for (const [index, { device }] of [south, one].entries()) {
      const text = left[index];
      expect(linkOf(device).conflict, `${epochs}`).toEqual(text && expect.stringMatching(text));
    }
    expect(one.above()).toBe(Math.max(...epochs));
  }
});

test("a neighbour cannot use up a device's epochs, nor bother it with what is over", async () => {
  const { start, run } = town();
  const north = await start("north", "south", 1_000);
  north.listener.onConnect("south");
  run(1_000);
  const say = (epoch: number, refused: number) =>
    north.listener.onFrame(
      "south",
      encodeOrderFrame(contract, { taken: { epoch, sequence: 0 }, refused, isTwice: false }),
    );
  say(500, 400);
  expect(linkOf(north.device).conflict).toBeNull();
  say(LARGEST_LEARNT_EPOCH + 1, 1_000);
  expect([north.above(), linkOf(north.device).conflict]).toEqual([
    1_000,
    expect.stringMatching(/^refuses this device/),
  ]);
  say(LARGEST_LEARNT_EPOCH, 1_000);
  expect(north.above()).toBe(LARGEST_LEARNT_EPOCH);
  say(LARGEST_LEARNT_EPOCH, 900);
  expect(linkOf(north.device).conflict).toMatch(/^hears this device twice/);
});
