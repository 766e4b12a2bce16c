// Sending and receiving over a link of any speed: the latest arrives, little is under way, and cheats are cut off.

import fc from "fast-check";
import { expect, test } from "vitest";
import { testSeed as seed } from "../../../test/runs.ts";
import { frameStreamBytes, incomingFrameStream, outgoingFrameStream } from "../../src/links/frameStream.ts";
import {
  LEAST_UNCONFIRMED_BYTES,
  MOST_UNCONFIRMED_BYTES,
  MOST_UNCONFIRMED_FRAMES,
  QUICK_CONFIRMATION_MILLISECONDS,
} from "../../src/wire/limits.ts";
import { type ManualClock, manualClock } from "./manualClock.ts";

function numbered(number: number, length = 93): Uint8Array {
  const frame = new Uint8Array(length);
  new DataView(frame.buffer).setUint32(0, number);
  return frame;
}
const numberOf = (frame: Uint8Array) => new DataView(frame.buffer, frame.byteOffset).getUint32(0);

/** A sender and a receiver with so many milliseconds between them. */
function pair(clock: ManualClock, delay: number, maxFrame = 100_000, onConfirm: (frames: number) => void = () => {}) {
  const heard: number[] = [];
  const refusals: string[] = [];
  let underWay = { frames: 0, bytes: 0 };
  const most = { frames: 0, bytes: 0 };
  const sender = outgoingFrameStream(clock, (bytes) => {
    underWay = { frames: underWay.frames + 1, bytes: underWay.bytes + bytes.length };
    most.frames = Math.max(most.frames, underWay.frames);
    most.bytes = Math.max(most.bytes, underWay.bytes);
    clock.after(delay, () => {
      underWay = { frames: underWay.frames - 1, bytes: underWay.bytes - bytes.length };
      receiver.receive(bytes);
    });
  });
  const receiver = incomingFrameStream({
    maxFrame,
    clock,
    onFrame: (frame) => heard.push(numberOf(frame)),
    confirm(bytes) {
      onConfirm(bytes[0]);
      clock.after(delay, () => expect(sender.receive(bytes)).toBeUndefined());
    },
    refuse: (reason) => refusals.push(reason),
  });
  return { sender, receiver, heard, refusals, most };
}

test("whatever the pace, delay and size: in order, never refused, bounded under way, and the last one sent arrives", () => {
  const problem = fc.record({
    delay: fc.nat(2000),
    gaps: fc.array(fc.nat(30), { minLength: 1, maxLength: 400 }),
    length: fc.constantFrom(93, 5_000, 80_000),
  });
  fc.assert(
    fc.property(problem, ({ delay, gaps, length }) => {
      const clock = manualClock();
      const { sender, heard, refusals, most } = pair(clock, delay);
      gaps.forEach((gap, number) => {
        sender.send(numbered(number, length));
        clock.advance(gap);
      });
      clock.advance(600_000);
      expect(refusals).toEqual([]);
      expect(heard.at(-1)).toBe(gaps.length - 1);
      expect(heard).toEqual([...heard].sort((a, b) => a - b));
      expect(most.frames).toBeLessThanOrEqual(MOST_UNCONFIRMED_FRAMES);
      const enough = 2 * delay > QUICK_CONFIRMATION_MILLISECONDS ? LEAST_UNCONFIRMED_BYTES : MOST_UNCONFIRMED_BYTES;
      expect(most.bytes).toBeLessThanOrEqual(enough + length + 5);
      expect(heard.length + sender.replaced).toBe(gaps.length);
    }),
    { seed, numRuns: 50 },
  );
});

test("send replaces the waiting frame and never queues: of 1000 frames without confirmation 64 go out, then the last", () => {
  const clock = manualClock();
  const sent: Uint8Array[] = [];
  const sender = outgoingFrameStream(clock, (bytes) => sent.push(bytes));
  for (let number = 0; number < 1000; number++) sender.send(numbered(number));
  expect(sent).toHaveLength(64);
  expect(sender.replaced).toBe(935);
  expect(sender.receive(Uint8Array.of(32))).toBeUndefined();
  expect(sent).toHaveLength(65);
  expect(numberOf(sent[64].slice(1))).toBe(999);
  expect(clock.due()).toEqual([]);
});

test("confirmations of long frames get as rare as those of short ones where they are quick, and come soon where they are slow", () => {
  for (const [delay, least, most] of [
    [1, 32, 33],
    [600, 1, 9],
  ]) {
    const clock = manualClock();
    const confirmed: number[] = [];
    const { sender, refusals } = pair(clock, delay, 100_000, (frames) => confirmed.push(frames));
    for (let step = 0; step < 1_000; step++) {
      sender.send(numbered(step, 8_051));
      clock.advance(12);
    }
    expect(refusals).toEqual([]);
    const later = confirmed.slice(confirmed.length / 2);
    expect(Math.min(...later)).toBeGreaterThanOrEqual(least);
    expect(Math.max(...later)).toBeLessThanOrEqual(most);
  }
});

test("a link that gets slow has the least under way again", () => {
  const clock = manualClock();
  let delay = 1;
  let underWay = 0;
  const sender = outgoingFrameStream(clock, (bytes) => {
    underWay += bytes.length;
    clock.after(delay, () => {
      underWay -= bytes.length;
      receiver.receive(bytes);
    });
  });
  const receiver = incomingFrameStream({
    maxFrame: 100_000,
    clock,
    onFrame: () => {},
    confirm: (bytes) => clock.after(delay, () => sender.receive(bytes)),
    refuse: () => expect.unreachable(),
  });
  const mostOf = (steps: number) => {
    let most = 0;
    for (let step = 0; step < steps; step++) {
      sender.send(numbered(step, 8_051));
      most = Math.max(most, underWay);
      clock.advance(10);
    }
    return most;
  };
  mostOf(1_000);
  delay = 5_000;
  expect(mostOf(1_000)).toBeGreaterThan(4 * LEAST_UNCONFIRMED_BYTES);
  mostOf(6_000);
  expect(mostOf(6_000)).toBeLessThanOrEqual(LEAST_UNCONFIRMED_BYTES + 8_056);
});

test("a confirmation of more frames than are under way, or of none, is refused", () => {
  const sender = outgoingFrameStream(manualClock(), () => {});
  sender.send(numbered(1));
  expect(sender.receive(Uint8Array.of(2))).toBe("a confirmation must name 1 to 1 frames (those under way), got 2");
  expect(sender.receive(Uint8Array.of(0))).toBe("a confirmation must name 1 to 1 frames (those under way), got 0");
});

test("frames beyond the credit are refused at once, and nothing is heard after", () => {
  const { receiver, heard, refusals } = pair(manualClock(), 0);
  const flood = frameStreamBytes(numbered(7));
  for (let n = 0; n < 10_000; n++) receiver.receive(flood);
  expect(heard).toHaveLength(64);
  expect(refusals).toEqual(["more than 64 frames were sent without waiting for a confirmation"]);
});

test("a peer that waits for its confirmations is held to 200 frames a second", () => {
  const clock = manualClock();
  const { sender, heard, refusals } = pair(clock, 0);
  for (let step = 0; step < 10_000; step++) {
    sender.send(numbered(step));
    clock.advance(1);
  }
  expect(heard.length).toBeGreaterThan(1_900);
  expect(heard.length).toBeLessThanOrEqual(10 * 200 + 2 * MOST_UNCONFIRMED_FRAMES);
  expect(refusals).toEqual([]);
});

test("the rest of a frame that waited while the receiver itself was busy is heard", () => {
  const clock = manualClock();
  const { receiver, heard, refusals } = pair(clock, 0);
  const bytes = frameStreamBytes(numbered(1));
  receiver.receive(bytes.subarray(0, 50));
  // The timer is due before the bytes are read, as after a long computation.
  clock.advance(10_001);
  receiver.receive(bytes.subarray(50));
  clock.advance(20_000);
  expect({ heard, refusals }).toEqual({ heard: [1], refusals: [] });
});

test("a long frame may take a second more for every 8 KiB, also if its length came in two pieces", () => {
  const clock = manualClock();
  const { receiver, heard, refusals } = pair(clock, 0);
  const bytes = frameStreamBytes(numbered(1, 81_920));
  receiver.receive(bytes.subarray(0, 1));
  receiver.receive(bytes.subarray(1, 50_000));
  clock.advance(19_000);
  receiver.receive(bytes.subarray(50_000));
  expect({ heard, refusals }).toEqual({ heard: [1], refusals: [] });
  receiver.receive(bytes.subarray(0, 50_000));
  clock.advance(21_000);
  expect(refusals).toEqual(["a frame did not end within 20 s"]);
});

test("a frame that drips in slower than 10 s is refused; a slow but whole one is not", () => {
  const clock = manualClock();
  const { receiver, heard, refusals } = pair(clock, 0);
  const bytes = frameStreamBytes(numbered(1));
  receiver.receive(bytes.subarray(0, 50));
  clock.advance(9_000);
  receiver.receive(bytes.subarray(50));
  clock.advance(20_000);
  expect({ heard, refusals }).toEqual({ heard: [1], refusals: [] });
  for (let n = 0; n < 5; n++) {
    receiver.receive(bytes.subarray(n, n + 1));
    clock.advance(3_000);
  }
  expect(refusals).toEqual(["a frame did not end within 10 s"]);
});
