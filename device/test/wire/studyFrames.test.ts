import { readFileSync } from "node:fs";
import { matrix, randomStream } from "@fedkm/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testSeed as seed } from "../../../test/runs.ts";
import { createDevice } from "../../src/change/studyLoop.ts";
import { volatileMemory } from "../../src/loop/savedState.ts";
import { simulatedClock } from "../../src/simulation/clock.ts";
import { canonicalStudy, contractOf } from "../../src/study/study.ts";
import type { Contract } from "../../src/wire/frames.ts";
import { LARGEST_FRAME_BYTES } from "../../src/wire/limits.ts";
import {
  decodeFrame,
  encodeCentroidsFrame,
  encodeOrderFrame,
  encodeStudyFrame,
  frameBytes,
} from "../../src/wire/studyFrames.ts";
import { emptyNetwork, noTag, said, studyWith } from "../problem.ts";

function contract(k: number, d: number): Contract {
  const hash = Uint8Array.from({ length: 16 }, (_, i) => i + 1);
  return { k, d, hash, low: new Float64Array(d).fill(-100), high: new Float64Array(d).fill(100) };
}

const all = (k: number) => new Array<boolean>(k).fill(true);

/** The bytes of the first example of docs/protocol.md, or of a later one. */
function shownBytes(index: number): string {
  const page = readFileSync(new URL("../../../docs/protocol.md", import.meta.url), "utf8");
  const [, example] = Array.from(page.matchAll(/```text\n(66646b6d[^`]*)```/g))[index];
  return Array.from(example.matchAll(/^([0-9a-f]+) {2}/gm), ([, bytes]) => bytes).join("");
}

describe("encodeOrder(contract, order)", () => {
  const order = { taken: { epoch: 4328719365, sequence: 7 }, refused: 513, isTwice: true };
  const frame = encodeOrderFrame(contract(2, 1), order);

  it("writes the bytes that docs/protocol.md shows, and decode reads them", () => {
    expect(Array.from(frame, (byte) => byte.toString(16).padStart(2, "0")).join("")).toBe(shownBytes(1));
    expect(decodeFrame(contract(2, 1), frame)).toEqual({ kind: "order", order });
  });

  it("is refused with another length, study, flag, or a stamp that is no safe integer", () => {
    const changed = (at: number, value: number) => Uint8Array.from(frame, (byte, i) => (i === at ? value : byte));
    const reasonOf = (bytes: Uint8Array) => decodeFrame(contract(2, 1), bytes);
    expect(reasonOf(frame.subarray(0, 51))).toEqual({ kind: "refused", reason: "length" });
    expect(reasonOf(Uint8Array.of(...frame, 0))).toEqual({ kind: "refused", reason: "length" });
    expect(reasonOf(changed(12, 9))).toEqual({ kind: "refused", reason: "study" });
    expect(reasonOf(changed(10, 2))).toEqual({ kind: "refused", reason: "flags" });
    for (const at of [35, 43, 51]) expect(reasonOf(changed(at, 1))).toEqual({ kind: "refused", reason: "stamp" });
  });
});

describe("encodeCentroids(contract, stamp, centroids, present)", () => {
  it("writes the bytes that docs/protocol.md shows", () => {
    const shown = shownBytes(0);
    const stamp = { epoch: 4328719365, sequence: 7 };
    const tag = { number: 3, table: 0xa1b2c3d4, start: 0x01020304 };
    const sketch = {
      origin: 17,
      version: 4328719365,
      shares: Uint8Array.of(255, 0),
      centroids: Float64Array.of(1.5, 0),
    };
    const frame = encodeCentroidsFrame(contract(2, 1), stamp, {
      ...said([9, -2], [false, true], tag),
      sketches: [sketch],
    });
    expect(Array.from(frame, (byte) => byte.toString(16).padStart(2, "0")).join("")).toBe(shown);
  });

  it("takes 60 + ceil(k / 8) + 8 k d bytes", () => {
    expect(frameBytes({ k: 3, d: 2 })).toBe(109);
    for (const [k, d] of [
      [1, 1],
      [8, 3],
      [9, 16],
    ]) {
      const frame = encodeCentroidsFrame(
        contract(k, d),
        { epoch: 1, sequence: 0 },
        said(new Array(k * d).fill(0), all(k)),
      );
      expect(frame.length).toBe(60 + Math.ceil(k / 8) + 8 * k * d);
    }
  });
});

describe("decode(contract, frame)", () => {
  it("gives back what was encoded, without the absent centroids", () => {
    const coordinate = fc.double({ min: -100, max: 100, noNaN: true });
    const shape = fc.record({ k: fc.integer({ min: 1, max: 20 }), d: fc.integer({ min: 1, max: 5 }) });
    const given = shape.chain(({ k, d }) =>
      fc.record({
        k: fc.constant(k),
        d: fc.constant(d),
        epoch: fc.maxSafeNat(),
        sequence: fc.maxSafeNat(),
        numbers: fc.array(coordinate, { minLength: k * d, maxLength: k * d }),
        present: fc.array(fc.boolean(), { minLength: k, maxLength: k }),
      }),
    );
    fc.assert(
      fc.property(given, ({ k, d, epoch, sequence, numbers, present }) => {
        const frame = encodeCentroidsFrame(contract(k, d), { epoch, sequence }, said(numbers, present));
        const sent = numbers.filter((_, i) => present[Math.floor(i / d)]);
        const decoded = decodeFrame(contract(k, d), frame);
        if (sent.length === 0) {
          expect(decoded).toEqual({ kind: "refused", reason: "presence" });
        } else {
          const centroids = { data: Float64Array.from(sent), rows: sent.length / d, cols: d };
          expect(decoded).toEqual({
            kind: "centroids",
            stamp: { epoch, sequence },
            tag: noTag,
            centroids,
            sketches: [],
          });
        }
      }),
      { seed, numRuns: 500 },
    );
  });

  it("names what is wrong", () => {
    const known = contract(3, 2);
    const whole = encodeCentroidsFrame(known, { epoch: 5, sequence: 1 }, said([1, 2, 3, 4, 5, 6], all(3)));
    const reason = (change: (frame: Uint8Array, view: DataView) => void) => {
      const frame = whole.slice();
      change(frame, new DataView(frame.buffer));
      const decoded = decodeFrame(known, frame);
      return decoded.kind === "refused" ? decoded.reason : decoded.kind;
    };
    expect(reason(() => {})).toBe("centroids");
    expect(reason((frame) => frame.fill(0, 0, 1))).toBe("magic");
    expect(reason((frame) => frame.fill(1, 4, 5))).toBe("version");
    expect(reason((frame) => frame.fill(9, 5, 6))).toBe("type");
    expect(reason((_, view) => view.setUint16(6, 4, true))).toBe("shape");
    expect(reason((_, view) => view.setUint16(8, 1, true))).toBe("shape");
    expect(reason((_, view) => view.setUint16(10, 1, true))).toBe("length");
    expect(reason((frame) => frame.fill(0, 27, 28))).toBe("study");
    expect(reason((_, view) => view.setUint32(32, 0xffffffff, true))).toBe("stamp");
    expect(reason((_, view) => view.setUint32(48, 0xffffffff, true))).toBe("stamp");
    expect(reason((frame) => frame.fill(0b1111, 60, 61))).toBe("presence");
    // Absent, yet with numbers.
    expect(reason((frame) => frame.fill(0b011, 60, 61))).toBe("presence");
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      expect(reason((_, view) => view.setFloat64(61, bad, true))).toBe("number");
    }
    expect(reason((_, view) => view.setFloat64(61, 100.001, true))).toBe("bounds");
    expect(decodeFrame(known, whole.subarray(0, 108))).toEqual({ kind: "refused", reason: "length" });
    expect(decodeFrame(known, new Uint8Array(110).fill(0))).toEqual({ kind: "refused", reason: "magic" });
    expect(decodeFrame(known, new Uint8Array(0))).toEqual({ kind: "refused", reason: "length" });
    expect(decodeFrame(known, new Uint8Array(LARGEST_FRAME_BYTES + 1))).toEqual({ kind: "refused", reason: "length" });
    const text = encodeStudyFrame(known, "abc");
    expect(decodeFrame(known, text)).toEqual({ kind: "study", text: "abc" });
    text.fill(0xff, 44);
    expect(decodeFrame(known, text)).toEqual({ kind: "refused", reason: "text" });
  });

  it("reads sketches, and refuses the frame where one is not right", () => {
    const known = contract(2, 1);
    const sketch = { origin: 3, version: 4, shares: Uint8Array.of(200, 0), centroids: Float64Array.of(-7, 0) };
    const whole = encodeCentroidsFrame(
      known,
      { epoch: 1, sequence: 1 },
      { ...said([1, 2], all(2)), sketches: [sketch] },
    );
    expect(decodeFrame(known, whole)).toMatchObject({ kind: "centroids", sketches: [sketch] });
    const at = frameBytes(known);
    const changes: ((view: DataView) => void)[] = [
      (view) => view.setUint32(at + 4, 0xffffffff, true),
      (view) => view.setUint32(at + 12, 0xffffffff, true),
      (view) => view.setFloat64(at + 18, 101, true),
      (view) => view.setFloat64(at + 18, Number.NaN, true),
      (view) => view.setFloat64(at + 26, 1, true),
    ];
    for (const change of changes) {
      const frame = whole.slice();
      change(new DataView(frame.buffer));
      expect(decodeFrame(known, frame)).toEqual({ kind: "refused", reason: "sketch" });
    }
  });

  it("reads a frame that lies anywhere in a larger buffer", () => {
    const known = contract(1, 1);
    const frame = encodeCentroidsFrame(known, { epoch: 1, sequence: 2 }, said([3], [true]));
    const around = new Uint8Array(frame.length + 3);
    around.set(frame, 3);
    expect(decodeFrame(known, around.subarray(3))).toEqual(decodeFrame(known, frame));
  });
});

/** A frame that must not be taken, made from a good one or from nothing. */
function malformed(good: Uint8Array, random: () => number): Uint8Array {
  const below = (most: number) => Math.floor(random() * most);
  const frame = good.slice();
  const view = new DataView(frame.buffer);
  const numbers = [Number.NaN, Number.POSITIVE_INFINITY, -1e300, 1e300, 91, -91];
  switch (below(8)) {
    case 0:
      return Uint8Array.from({ length: below(300) }, () => below(256));
    case 1:
      return frame.subarray(0, below(frame.length));
    case 2: {
      const longer = new Uint8Array(frame.length + 1 + below(5000));
      longer.set(frame);
      return longer;
    }
    case 3:
      view.setFloat64(61 + 8 * below(6), numbers[below(numbers.length)], true);
      return frame;
    case 4:
      // Any byte of the header but those of the stamp: a later stamp is a good one.
      frame[below(28)] ^= 1 << below(8);
      return frame;
    case 5:
      view.setUint16(below(2) === 0 ? 6 : 8, below(65536) | 8, true);
      return frame;
    case 6:
      // As old as the last one, or older.
      view.setUint32(28, below(2), true);
      return frame;
    default:
      view.setUint32(below(2) === 0 ? 32 : 40, 0x200000 + below(0x7fdfffff), true);
      return frame;
  }
}

it(`10,000 malformed frames change nothing but counters, and name their sender (seed ${seed})`, async () => {
  const study = studyWith();
  const known = await contractOf(study);
  const clock = simulatedClock();
  const around = emptyNetwork();
  const memory = volatileMemory(1);
  const rows = matrix(Array.from({ length: 60 }, (_, i) => [(i % 3) * 10 + (i % 7) / 7, (i % 3) * 5 + (i % 5) / 5]));
  const device = createDevice({
    study,
    contract: known,
    network: around.network,
    clock,
    memory,
    links: ["peer"],
    rows,
  });
  await device.start();
  around.listener.onConnect("peer");
  while (clock.step(1_000));
  const opened = decodeFrame(known, around.sent[around.sent.length - 1].frame);
  const tag = opened.kind === "centroids" ? opened.tag : noTag;
  const good = encodeCentroidsFrame(known, { epoch: 1, sequence: 1 }, said([1, 2, 11, 7, 21, 11], all(3), tag));
  around.listener.onFrame("peer", good);
  while (clock.step(20_000));
  const steady = () => {
    const { neighbours, ...own } = device.status();
    const rests = neighbours.map(({ framesRefused, age, conflict, fault, ...rest }) => rest);
    return JSON.stringify([own, rests, memory.latest()]);
  };
  const before = steady();
  const heartbeats = around.sent.length;
  const random = randomStream(seed, "frames");
  for (let i = 0; i < 10_000; i++) {
    around.listener.onFrame("peer", malformed(good, random));
    clock.step(clock.now() + 5);
    while (clock.step(clock.now()));
    if (i === 1_000) expect(steady()).toBe(before);
  }
  const { framesRefused, fault } = device.status().neighbours[0];
  expect(fault).toMatch(/^sent a frame that cannot be read \(\w+\)$/);
  const refused = Object.values(framesRefused).reduce((sum, count) => sum + count, 0);
  expect(refused).toBeGreaterThan(9_990);
  const { round, framesSent, ...rest } = JSON.parse(steady())[0];
  const { round: roundBefore, framesSent: toldBefore, ...restBefore } = JSON.parse(before)[0];
  // 50 seconds have passed: two heartbeats at most, each with an update that moves nothing.
  expect(rest).toEqual({ ...restBefore, move: 0 });
  expect(round - roundBefore).toBeLessThanOrEqual(2);
  expect(framesSent - toldBefore).toBeLessThanOrEqual(2);
  // And once our study, to a peer that seems to have another one, and twice in that time that its stamps go back.
  const answers = around.sent.slice(heartbeats).map(({ frame }) => frame[5]);
  expect(answers.filter((type) => type !== 1)).toEqual(expect.arrayContaining([2, 3, 3]));
  expect(answers.length).toBe(framesSent - toldBefore + 3);
});

it("a study in a frame is read whole", async () => {
  const study = studyWith();
  const known = await contractOf(study);
  expect(decodeFrame(known, encodeStudyFrame(known, canonicalStudy(study)))).toEqual({
    kind: "study",
    text: canonicalStudy(study),
  });
});
