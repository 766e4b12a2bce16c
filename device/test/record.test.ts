import { describe, expect, it } from "vitest";
import { decodeRecord, durableWrite, encodeRecord, generations } from "../src/record.ts";
import { type Contents, crashStates, memoryFiles } from "./memoryFiles.ts";

const text = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes);
const bytes = (words: string) => new TextEncoder().encode(words);

async function saved(...payloads: string[]): Promise<Contents> {
  const files = memoryFiles();
  const record = generations("folder/state", files);
  await record.load();
  for (const payload of payloads) await record.save(bytes(payload));
  return files.contents;
}

describe("durableWrite(path, bytes)", () => {
  it("leaves exactly the old or exactly the new file, whenever power fails", async () => {
    const start = new Map([["folder/links", bytes("old links")]]);
    const files = memoryFiles(start);
    await durableWrite("folder/links", bytes("new links, longer"), files);
    expect(files.calls.map(({ kind }) => kind)).toEqual(["create", "write", "sync", "rename", "syncFolder"]);
    const found = Array.from(crashStates(start, files.calls), (state) => text(state.get("folder/links")));
    expect(found.length).toBeGreaterThan(10);
    expect(new Set(found)).toEqual(new Set(["old links", "new links, longer"]));
    expect(found.at(-1)).toBe("new links, longer");
  });

  it("would lose the file without the sync before the rename: the enumeration sees it", async () => {
    const start = new Map([["folder/links", bytes("old links")]]);
    const files = memoryFiles(start);
    await durableWrite("folder/links", bytes("new links"), files);
    const careless = files.calls.filter(({ kind }) => kind !== "sync");
    const found = Array.from(crashStates(start, careless), (state) => text(state.get("folder/links")));
    expect(found).toContain("");
  });

  it("leaves no temporary file where a call fails", async () => {
    for (let at = 0; at < 4; at++) {
      const start = new Map([["folder/links", bytes("old")]]);
      const files = memoryFiles(start, (call) => {
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
      const { newest, damaged } = await generations("folder/state", memoryFiles(contents)).load();
      expect([text(newest?.payload), damaged]).toEqual([payloads.at(-1), 0]);
    }
  });

  it("loads exactly the old or exactly the new state, whenever power fails during a save", async () => {
    for (const before of [["old"], ["older", "old"], ["oldest", "older", "old"]]) {
      const start = await saved(...before);
      const files = memoryFiles(start);
      const record = generations("folder/state", files);
      await record.load();
      await record.save(bytes("new"));
      const found = new Set<string | undefined>();
      let last: string | undefined;
      for (const state of crashStates(start, files.calls)) {
        last = text((await generations("folder/state", memoryFiles(state)).load()).newest?.payload);
        found.add(last);
      }
      expect(found).toEqual(new Set(["old", "new"]));
      expect(last).toBe("new");
    }
  });

  it("notices every flipped byte and uses the other generation", async () => {
    const contents = await saved("the state before", "the newest state");
    const path = "folder/state.b";
    const whole = contents.get(path) as Uint8Array;
    for (let at = 0; at < whole.length; at++) {
      for (const bit of [1, 0x80, 0xff]) {
        const flipped = whole.slice();
        flipped[at] ^= bit;
        const files = memoryFiles(new Map([...contents, [path, flipped]]));
        const { newest, damaged } = await generations("folder/state", files).load();
        expect([at, text(newest?.payload), damaged]).toEqual([at, "the state before", 1]);
      }
    }
  });

  it("keeps the newest state where any call of a save fails, and saves again later", async () => {
    const start = await saved("older", "old");
    for (const reason of ["ENOSPC", "EIO"]) {
      for (let at = 0; at < 4; at++) {
        let isFailing = true;
        const files = memoryFiles(start, (call) => {
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
