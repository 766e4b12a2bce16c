import { describe, expect, it } from "vitest";
import { type Contents, simulatedDisk } from "../../../lab/src/faults/durability.ts";
import { decodeCopy, encodeCopy, twoCopies } from "../../src/disk/stateFile.ts";

const text = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes);
const bytes = (words: string) => new TextEncoder().encode(words);

async function saved(...payloads: string[]): Promise<Contents> {
  const disk = simulatedDisk();
  const record = twoCopies("folder/state", disk);
  await record.load();
  for (const payload of payloads) await record.save(bytes(payload));
  return disk.contents;
}

describe("generations(path, disk)", () => {
  it("loads the newest of two", async () => {
    for (const payloads of [["1"], ["1", "2"], ["1", "2", "3"], ["1", "2", "3", "4"]]) {
      const contents = await saved(...payloads);
      expect(contents.size).toBe(Math.min(2, payloads.length));
      const { newest, damaged } = await twoCopies("folder/state", simulatedDisk(contents)).load();
      expect([text(newest?.payload), damaged]).toEqual([payloads.at(-1), 0]);
    }
  });

  it("keeps the newest state where any call of a save fails, and saves again later", async () => {
    const start = await saved("older", "old");
    for (const reason of ["ENOSPC", "EIO"]) {
      for (let at = 0; at < 4; at++) {
        let isFailing = true;
        const disk = simulatedDisk(start, (call) => {
          if (isFailing && call === at) throw new Error(reason);
        });
        const record = twoCopies("folder/state", disk);
        await record.load();
        await expect(record.save(bytes("new"))).rejects.toThrow(reason);
        expect(text((await twoCopies("folder/state", disk).load()).newest?.payload)).toBe("old");
        isFailing = false;
        await record.save(bytes("newer"));
        expect(text((await twoCopies("folder/state", disk).load()).newest?.payload)).toBe("newer");
      }
    }
  });
});

it("a record of any other length is not whole", () => {
  const record = encodeCopy({ number: 3, payload: bytes("payload") });
  expect(text(decodeCopy(record)?.payload)).toBe("payload");
  for (let length = 0; length < record.length; length++) expect(decodeCopy(record.slice(0, length))).toBeUndefined();
  expect(decodeCopy(Uint8Array.of(...record, 0))).toBeUndefined();
});
