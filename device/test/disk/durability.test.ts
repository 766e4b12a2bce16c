import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tryDurability } from "../../../lab/src/faults/durability.ts";

it("a store loses nothing, whenever power fails, whichever byte is flipped, whichever write fails", async () => {
  const folder = await mkdtemp(join(tmpdir(), "fedkm-durability-"));
  try {
    const { crashes, flips, failures } = await tryDurability(folder);
    expect(crashes.states).toBeGreaterThan(100);
    expect(crashes.loadOld).toBeGreaterThan(0);
    expect(crashes.loadNew).toBeGreaterThan(0);
    expect(crashes.loadOld + crashes.loadNew).toBe(crashes.states);
    expect([crashes.undone, crashes.epochsBack]).toEqual([0, 0]);
    expect(flips.tried).toBe(3 * flips.bytes);
    expect([flips.detected, flips.otherUsed, flips.epochsBack]).toEqual([flips.tried, flips.tried, 0]);
    // Three files are written, each in five calls.
    expect(failures).toEqual({ tried: 30, losses: 0, epochsBack: 0 });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
