// A recording has every frame of a device, can be added to, and is refused where it is not one.

import { complete } from "@fedkm/core";
import { expect, test } from "vitest";
import { simulate } from "../../src/simulation/simulate.ts";
import { parseRecording, type RecordedEvent, type RecordingHeader, recordingLine } from "../../src/wire/recording.ts";
import { problem } from "../problem.ts";

const header: RecordingHeader = {
  recording: "fedkm",
  version: 1,
  peer: "own",
  study: "00",
  startedAt: "2026-01-01T00:00:00.000Z",
  clock: 5,
};
const event: RecordedEvent = { at: 7, kind: "sent", peer: "other", frame: Uint8Array.of(0, 255, 128, 10) };

test("simulate({ record }) hears every frame at both ends, in the order of the device", async () => {
  const events: RecordedEvent[][] = [[], []];
  const network = simulate({
    ...(await problem("iso", complete(2), 1)),
    record: (i, heard) => events[i].push(heard),
  });
  expect(network.settle(600_000)).toBe(true);
  const frames = (i: number, kind: RecordedEvent["kind"]) =>
    events[i].filter((heard) => heard.kind === kind).map(({ frame }) => frame);
  expect(frames(1, "received").length).toBeGreaterThan(10);
  // Of frames that wait for a busy link only the latest is sent, so some that were handed over never arrive.
  const sent = frames(0, "sent").map((frame) => frame.join());
  for (const frame of frames(1, "received")) expect(sent).toContain(frame.join());
  expect(events[0].map(({ at }) => at)).toEqual(events[0].map(({ at }) => at).sort((a, b) => a - b));
});

test("parseRecording(text) gives back what eventLine wrote, start by start, without half a last line", () => {
  const lines = `${JSON.stringify(header)}\n${recordingLine(event)}`;
  const connected: RecordedEvent = { at: 6, kind: "connected", peer: "other", frame: new Uint8Array(0) };
  const text = `${lines}${JSON.stringify({ ...header, clock: 9 })}\n${recordingLine(connected)}{"at": 3, "ki`;
  expect(parseRecording(text)).toEqual([
    { header, events: [event] },
    { header: { ...header, clock: 9 }, events: [connected] },
  ]);
});

test("parseRecording(text) says what is wrong with a text that is no recording", () => {
  expect(() => parseRecording("")).toThrow("a recording must begin with its header, got no line");
  expect(() => parseRecording(recordingLine(event))).toThrow("must begin with its header, got line 1 without one");
  expect(() => parseRecording("x1,x2\n1,2\n")).toThrow("line 1 of a recording must be a JSON object");
  expect(() => parseRecording(`${JSON.stringify({ ...header, version: 2 })}\n`)).toThrow("must be 1, got 2");
});
