// The version of the protocol: its frames to the byte, and what devices say about a neighbour that speaks another one.

import { type Matrix, matrix } from "@fedkm/core";
import { afterEach, describe, expect, it } from "vitest";
import { createDevice } from "../../src/change/studyLoop.ts";
import { linkProblems } from "../../src/daemon/problems.ts";
import { volatileMemory } from "../../src/loop/savedState.ts";
import { simulatedClock } from "../../src/simulation/clock.ts";
import { contractOf } from "../../src/study/study.ts";
import type { Contract } from "../../src/wire/frames.ts";
import {
  decodeFrame,
  decodeStatementFrame,
  encodeCentroidsFrame,
  encodeOrderFrame,
  encodeStatementFrame,
  encodeStudyFrame,
} from "../../src/wire/studyFrames.ts";
import { northStatus } from "../daemon/northStatus.ts";
import { Peers } from "../loopback.ts";
import { emptyNetwork, said, studyWith } from "../problem.ts";
import { frames2 } from "./frames2.ts";

const contract: Contract = {
  k: 2,
  d: 1,
  hash: Uint8Array.from({ length: 16 }, (_, i) => i + 1),
  low: Float64Array.of(-100),
  high: Float64Array.of(100),
};
const stamp = { epoch: 4328719365, sequence: 7 };
const tag = { number: 3, table: 0xa1b2c3d4, start: 0x01020304 };
const sketch = { origin: 17, version: 4328719365, shares: Uint8Array.of(255, 0), centroids: Float64Array.of(1.5, 0) };
const order = { taken: stamp, refused: 513, isTwice: true };

describe("version 2", () => {
  it("is written as it was at first, to the byte", () => {
    const hex = (frame: Uint8Array) => Buffer.from(frame).toString("hex");
    const second = { ...said([0, -2], [false, true], tag), sketches: [sketch] };
    expect(hex(encodeCentroidsFrame(contract, stamp, said([1.5, -2], [true, true], tag)))).toBe(frames2.centroids);
    expect(hex(encodeCentroidsFrame(contract, stamp, second))).toBe(frames2.sketch);
    expect(hex(encodeStudyFrame(contract, '{"name":"x"}'))).toBe(frames2.study);
    expect(hex(encodeOrderFrame(contract, order))).toBe(frames2.order);
    const next = { contract: { ...contract, hash: contract.hash.map((byte) => byte + 31) }, text: '{"name":"y"}' };
    expect(hex(encodeStatementFrame({ current: contract, next, isAsking: true, isOut: false }))).toBe(
      frames2.statement,
    );
  });

  it("is read as it was at first", () => {
    const read = (hex: string) => decodeFrame(contract, Buffer.from(hex, "hex"));
    const column = (...rows: number[]): Matrix => matrix(rows.map((row) => [row]));
    const heard = { kind: "centroids", stamp, tag };
    expect(read(frames2.centroids)).toEqual({ ...heard, centroids: column(1.5, -2), sketches: [] });
    expect(read(frames2.sketch)).toEqual({ ...heard, centroids: column(-2), sketches: [sketch] });
    expect(read(frames2.study)).toEqual({ kind: "study", text: '{"name":"x"}' });
    expect(read(frames2.order)).toEqual({ kind: "order", order });
    expect(decodeStatementFrame(Buffer.from(frames2.statement, "hex"))).toEqual({
      current: "0102030405060708090a0b0c0d0e0f10",
      next: { id: "202122232425262728292a2b2c2d2e2f", text: '{"name":"y"}' },
      isAsking: true,
      isOut: false,
    });
  });
});

describe("a device", () => {
  it("names a neighbour that speaks another version, until it speaks ours, and nothing else changes", async () => {
    const study = studyWith();
    const shared = await contractOf(study);
    const run = async (frames: readonly Uint8Array[]) => {
      const around = emptyNetwork();
      const { network, sent } = around;
      const clock = simulatedClock();
      const rows = matrix(Array.from({ length: 9 }, (_, i) => [10 * (i % 3), i * i]));
      const memory = volatileMemory(1);
      const device = createDevice({ study, contract: shared, network, clock, memory, links: ["old"], rows });
      void device.start();
      while (clock.step(1_000));
      around.listener.onConnect("old");
      for (const frame of frames) around.listener.onFrame("old", frame);
      while (clock.step(10_000));
      const { neighbours, ...own } = device.status();
      device.stop();
      return { own, neighbour: neighbours[0], sent };
    };
    const lies = [20, 20, 20, 20, 20, 20];
    const current = encodeCentroidsFrame(shared, { epoch: 1, sequence: 0 }, said(lies, [true, true, true]));
    const [old, newer] = [1, 3].map((version) => current.map((byte, i) => (i === 4 ? version : byte)));
    const nobody = await run([]);
    const [withOld, withNewer, updated] = [await run([old, old]), await run([newer]), await run([old, current])];
    const words = ({ neighbour }: typeof withOld) =>
      linkProblems([{ ...northStatus.links[0], ...neighbour, name: "north" }], new Map(), new Set()).map(
        ({ text }) => text,
      );
    expect(words(withOld)).toEqual(["north speaks protocol 1, this device 2: ask its owner to update fedkm"]);
    expect(words(withNewer)).toEqual(["north speaks protocol 3, this device 2: update fedkm here"]);
    expect(words(updated)).toEqual([]);
    expect(withOld.neighbour.framesRefused).toEqual({ version: 2 });
    for (const { own, sent } of [withOld, withNewer]) {
      expect(own).toEqual(nobody.own);
      expect(sent).toEqual(nobody.sent);
    }
  });
});

describe("two devices over libp2p", () => {
  const peers = new Peers();
  afterEach(() => peers.close());

  it("say in words that one is too old, on both ends, where they have no version in common", async () => {
    const [one, two] = [await peers.identity("one"), await peers.identity("two")];
    const a = await peers.start(one, [{ peer: two.peer, addresses: [] }]);
    const b = await peers.start(two, [a.neighbour()], { protocol: "/fedkm/4" });
    await expect.poll(() => a.network.traffic(two.peer)?.version, { timeout: 600_000 }).toBe(4);
    expect(a.network.traffic(two.peer)?.failure).toBe("it speaks protocol 4, this device 2: update fedkm here");
    await expect.poll(() => b.network.traffic(one.peer)?.version, { timeout: 600_000 }).toBe(2);
    expect([...a.events, ...b.events].filter((event) => event.startsWith("connect"))).toEqual([]);
  });
});
