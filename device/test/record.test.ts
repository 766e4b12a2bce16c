import { describe, expect, it } from "vitest";
import { decodeRecord, durableWrite, encodeRecord, generations } from "../src/record.ts";
import { type Contents, crashStates, simulatedDisk } from "../src/simulation/disk.ts";

const text = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes);
const bytes = (words: string) => new TextEncoder().encode(words);

async function saved(...payloads: string[]): Promise<Contents> {
  const files = simulatedDisk();
  const record = generations("folder/state", files);
  await record.load();
  for (const payload of payloads) await record.save(bytes(payload));
  return files.contents;
}

describe("durableWrite(path, bytes)", () => {
  it("leaves exactly the old or exactly the new file, whenever power fails", async () => {
    const start = new Map([["folder/links", bytes("old links")]]);
    const files = simulatedDisk(start);
    await durableWrite("folder/links", bytes("new links, longer"), files);
    expect(files.calls.map(({ kind }) => kind)).toEqual(["create", "write", "sync", "rename", "syncFolder"]);
    const found = Array.from(crashStates(start, files.calls), ({ contents }) => text(contents.get("folder/links")));
    expect(found.length).toBeGreaterThan(10);
    expect(new Set(found)).toEqual(new Set(["old links", "new links, longer"]));
    expect(found.at(-1)).toBe("new links, longer");
  });

  it("would lose the file without the sync before the rename: the enumeration sees it", async () => {
    const start = new Map([["folder/links", bytes("old links")]]);
    const files = simulatedDisk(start);
    await durableWrite("folder/links", bytes("new links"), files);
    const careless = files.calls.filter(({ kind }) => kind !== "sync");
    const found = Array.from(crashStates(start, careless), ({ contents }) => text(contents.get("folder/links")));
    expect(found).toContain("");
  });

  it("leaves no temporary file where a call fails", async () => {
    for (let at = 0; at < 4; at++) {
      const start = new Map([["folder/links", bytes("old")]]);
      const files = simulatedDisk(start, (call) => {
        if (call === at) throw new Error("ENOSPC: no space left on device");
      });
      await expect(durableWrite("folder/links", bytes("new"), files)).rejects.toThrow("ENOSPC");
      // Where nothing can be removed either, the next start does it.
      expect(text(files.contents.get("folder/links"))).toBe("old");
    }
  });
});

describe("generations(path, files)", () => {
  it("loads the newest of two", async () => {
    for (const payloads of [["1"], ["1", "2"], ["1", "2", "3"], ["1", "2", "3", "4"]]) {
      const contents = await saved(...payloads);
      expect(contents.size).toBe(Math.min(2, payloads.length));
      const { newest, damaged } = await generations("folder/state", simulatedDisk(contents)).load();
      expect([text(newest?.payload), damaged]).toEqual([payloads.at(-1), 0]);
    }
  });

  it("keeps the newest state where any call of a save fails, and saves again later", async () => {
    const start = await saved("older", "old");
    for (const reason of ["ENOSPC", "EIO"]) {
      for (let at = 0; at < 4; at++) {
        let isFailing = true;
        const files = simulatedDisk(start, (call) => {
          if (isFailing && call === at) throw new Error(reason);
        });
        const record = generations("folder/state", files);
        await record.load();
        await expect(record.save(bytes("new"))).rejects.toThrow(reason);
        expect(text((await generations("folder/state", files).load()).newest?.payload)).toBe("old");
        isFailing = false;
        await record.save(bytes("newer"));
        expect(text((await generations("folder/state", files).load()).newest?.payload)).toBe("newer");
      }
    }
  });
});

it("a record of any other length is not whole", () => {
  const record = encodeRecord({ number: 3, payload: bytes("payload") });
  expect(text(decodeRecord(record)?.payload)).toBe("payload");
  for (let length = 0; length < record.length; length++) expect(decodeRecord(record.slice(0, length))).toBeUndefined();
  expect(decodeRecord(Uint8Array.of(...record, 0))).toBeUndefined();
});
