// A device's recording in a file: added to at every start, for its owner's eyes only, and no reason to stop.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { noticeBoard } from "../../src/daemon/notices.ts";
import { recordToFile } from "../../src/daemon/recordingFile.ts";
import { simulatedClock } from "../../src/simulation/clock.ts";
import { parseRecording } from "../../src/wire/recording.ts";
import { emptyNetwork } from "../problem.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-record-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function start(file: string) {
  const silent = { info: () => undefined, warn: () => undefined };
  const notices = noticeBoard(silent, () => new Date(0));
  const around = emptyNetwork();
  let close: () => unknown = () => undefined;
  const opened = (closer: () => unknown) => {
    close = closer;
  };
  const network = await recordToFile(file, around.network, { clock: simulatedClock(), notices, study: "0a", opened });
  await network.start({ onFrame: () => undefined, onConnect: () => undefined, onDisconnect: () => undefined });
  return { network, around, notices, close: () => close() };
}

test("recordedIn(file, network) adds what is sent and heard, start after start, and passes all of it on", async () => {
  const file = join(folder, "north.jsonl");
  for (let times = 0; times < 2; times++) {
    const { network, around, close } = await start(file);
    around.listener.onConnect("south");
    around.listener.onFrame("south", Uint8Array.of(1, 2));
    network.send("south", Uint8Array.of(3, 4));
    expect(around.sent).toEqual([{ peer: "south", frame: Uint8Array.of(3, 4) }]);
    await close();
  }
  const recordings = parseRecording(readFileSync(file, "utf8"));
  expect(recordings).toHaveLength(2);
  for (const { header, events } of recordings) {
    expect(header).toMatchObject({ peer: "own", study: "0a", version: 1 });
    expect(events.map(({ kind, peer, frame }) => [kind, peer, frame.join()])).toEqual([
      ["connected", "south", ""],
      ["received", "south", "1,2"],
      ["sent", "south", "3,4"],
    ]);
  }
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("recordedIn(file, network) refuses a file that cannot be opened, before anything is sent", async () => {
  mkdirSync(join(folder, "taken"));
  await expect(start(join(folder, "taken"))).rejects.toThrow("EISDIR");
});
