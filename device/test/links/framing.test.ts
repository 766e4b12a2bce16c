// Frames come out of a stream as they went in, however it was cut, and a false length keeps nothing.

import fc from "fast-check";
import { expect, test } from "vitest";
import { testSeed as seed } from "../../../test/runs.ts";
import { frameReader, frameStreamBytes } from "../../src/links/frameStream.ts";

function join(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

test("frameReader gives back the frames of withLength, wherever the bytes are cut", () => {
  const frame = fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.boolean());
  const frames = fc.array(frame, { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(frames, fc.array(fc.nat(400)), (sent, cuts) => {
      const bytes = join(sent.map(([frame, isAsking]) => frameStreamBytes(frame, isAsking)));
      const heard: [Uint8Array, boolean][] = [];
      const reader = frameReader(300, (frame, isAsking) => heard.push([frame, isAsking]));
      let at = 0;
      for (const length of [...cuts, bytes.length]) {
        expect(reader.read(bytes.subarray(at, at + length))).toBeUndefined();
        at += length;
      }
      expect(heard).toEqual(sent);
      expect(reader.midway).toBe(false);
    }),
    { seed },
  );
});

test("withLength puts seven bits a byte before the frame, lowest first", () => {
  expect(Array.from(frameStreamBytes(new Uint8Array(127)).subarray(0, 2))).toEqual([127, 0]);
  expect(Array.from(frameStreamBytes(new Uint8Array(300)).subarray(0, 3))).toEqual([0xac, 0x02, 0]);
});

test("frameReader refuses a second question before a frame, a length above the limit, or without an end", () => {
  const read = (...bytes: number[]) => frameReader(200, () => expect.unreachable()).read(Uint8Array.from(bytes));
  expect(read(0)).toBeUndefined();
  expect(read(0, 0)).toBe("a frame must have at least 1 byte, got 0");
  expect(read(0x80, 0)).toBe("a frame must have at least 1 byte, got 0");
  expect(read(0xc9, 0x01)).toBe("a frame must have at most 200 bytes, got 201 or more");
  expect(read(0xff, 0xff, 0xff, 0xff)).toMatch(/^a frame must have at most 200 bytes, got \d+ or more$/);
  expect(read(0x80, 0x80, 0x80, 0x80)).toBe("a frame must have at most 200 bytes, got 0 or more");
});

test("frameReader.midway is true after a question, inside a length and inside a frame", () => {
  const reader = frameReader(200, () => {});
  const midway = [[], [0], [0x90], [0x01], [7]].map((bytes) => {
    reader.read(Uint8Array.from(bytes));
    return reader.midway;
  });
  expect(midway).toEqual([false, true, true, true, true]);
  reader.read(new Uint8Array(143));
  expect(reader.midway).toBe(false);
});
