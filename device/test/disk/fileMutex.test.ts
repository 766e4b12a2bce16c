// Turns at changing a file: no two at once, none lost to a process that ended in the middle of its own.

import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withFileMutex } from "../../src/disk/fileMutex.ts";
import { manualClock } from "../links/manualClock.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-turn-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const mark = () => join(folder, "mark");
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test("inTurn lets one work at a time, and leaves no mark, also where the work fails", async () => {
  let inside = 0;
  let most = 0;
  const work = async () => {
    inside += 1;
    most = Math.max(most, inside);
    await nextTurn();
    inside -= 1;
    return inside;
  };
  await Promise.all(Array.from({ length: 20 }, () => withFileMutex(mark(), work)));
  expect(most).toBe(1);
  await expect(withFileMutex(mark(), () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(readdirSync(folder)).toEqual([]);
});

test("inTurn takes the turn of a process that ended in it, 10 s after it was first seen", async () => {
  mkdirSync(mark());
  const clock = manualClock();
  const isDone = withFileMutex(mark(), async () => true, clock);
  let waited = 0;
  while (readdirSync(folder).length > 0) {
    if (clock.due().length > 0) {
      clock.advance(20);
      waited += 20;
    }
    await nextTurn();
  }
  expect(waited).toBeGreaterThan(10_000);
  expect(waited).toBeLessThan(11_000);
  expect(await isDone).toBe(true);
});

test("isMine is false for a process whose turn was taken meanwhile, and it leaves the other one's mark alone", async () => {
  const seen = await withFileMutex(mark(), async (isMine) => {
    const before = await isMine();
    rmdirSync(mark());
    mkdirSync(join(folder, "other"));
    mkdirSync(mark());
    return [before, await isMine()];
  });
  expect(seen).toEqual([true, false]);
  expect(readdirSync(folder).sort()).toEqual(["mark", "other"]);
});
