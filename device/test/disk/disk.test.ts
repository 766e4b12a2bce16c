import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { crashStates, simulatedDisk } from "../../../lab/src/faults/durability.ts";
import { durableWrite, makeFolder } from "../../src/disk/disk.ts";

const text = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes);
const bytes = (words: string) => new TextEncoder().encode(words);

describe("durableWrite(path, bytes)", () => {
  it("leaves exactly the old or exactly the new file, whenever power fails", async () => {
    const start = new Map([["folder/links", bytes("old links")]]);
    const disk = simulatedDisk(start);
    await durableWrite("folder/links", bytes("new links, longer"), disk);
    expect(disk.calls.map(({ kind }) => kind)).toEqual(["create", "write", "sync", "rename", "syncFolder"]);
    const found = Array.from(crashStates(start, disk.calls), ({ contents }) => text(contents.get("folder/links")));
    expect(found.length).toBeGreaterThan(10);
    expect(new Set(found)).toEqual(new Set(["old links", "new links, longer"]));
    expect(found.at(-1)).toBe("new links, longer");
  });

  it("would lose the file without the sync before the rename: the enumeration sees it", async () => {
    const start = new Map([["folder/links", bytes("old links")]]);
    const disk = simulatedDisk(start);
    await durableWrite("folder/links", bytes("new links"), disk);
    const careless = disk.calls.filter(({ kind }) => kind !== "sync");
    const found = Array.from(crashStates(start, careless), ({ contents }) => text(contents.get("folder/links")));
    expect(found).toContain("");
  });

  it("leaves no temporary file where a call fails", async () => {
    for (let at = 0; at < 4; at++) {
      const start = new Map([["folder/links", bytes("old")]]);
      const disk = simulatedDisk(start, (call) => {
        if (call === at) throw new Error("ENOSPC: no space left on device");
      });
      await expect(durableWrite("folder/links", bytes("new"), disk)).rejects.toThrow("ENOSPC");
      // Where nothing can be removed either, the next start does it.
      expect(text(disk.contents.get("folder/links"))).toBe("old");
    }
  });
});

describe("makeFolder(path)", () => {
  it("syncs the folder above each one that it makes, and makes them for their owner only", async () => {
    const base = mkdtempSync(join(tmpdir(), "fedkm-disk-"));
    try {
      const synced: string[] = [];
      const disk = { syncFolder: async (folder: string) => void synced.push(folder) };
      await makeFolder(join(base, "a", "b", "c"), disk);
      expect(synced).toEqual([join(base, "a", "b"), join(base, "a"), base]);
      expect(statSync(join(base, "a", "b", "c")).mode & 0o777).toBe(0o700);
      await makeFolder(join(base, "a", "b", "c"), disk);
      expect(synced).toHaveLength(3);
    } finally {
      rmSync(base, { recursive: true });
    }
  });
});
