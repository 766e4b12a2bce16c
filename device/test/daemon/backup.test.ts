// A device in one file and back: nothing is lost, nothing is half there, and no damage goes unnoticed.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { backUpFolder, decodeBackup, encodeBackup, restoreFolder } from "../../src/daemon/backup.ts";
import { createFolder, readFolder } from "../../src/daemon/folder.ts";
import { writeLinksFile } from "../../src/disk/linksFile.ts";
import { openStore } from "../../src/disk/store.ts";
import { createIdentity } from "../../src/keys/peer.ts";
import { studyText } from "../problem.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-backup-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const plain = { passphrase: undefined, at: new Date(0) };
const inFolder = (name: string) => join(folder, name);

/** A device that has run once, in the folder `north`; returns its path and epoch. */
async function deviceWith(data: readonly string[]): Promise<{ path: string; epoch: number }> {
  const path = inFolder("north");
  await createFolder(path, studyText, { name: "north", data, listen: ["/ip4/127.0.0.1/tcp/0"], announce: [] });
  await writeLinksFile(path, [{ name: "south", peer: (await createIdentity()).peer, addresses: [] }]);
  writeFileSync(join(path, "met.json"), "{}\n");
  const store = await openStore(path, () => {}, { wallClock: () => 5_000_000_000_000 });
  store.keep(() => ({
    study: "",
    round: 1,
    opening: { number: 0, start: 0, sketches: [] },
    own: null,
    sketch: null,
    centroids: [[1234.5]],
    present: [true],
    neighbours: [],
  }));
  await store.close();
  return { path, epoch: store.epoch };
}

test("restoreFolder makes again what backUpFolder saved, and the device starts above its last epoch", async () => {
  const { path, epoch } = await deviceWith([inFolder("rows.csv")]);
  const out = inFolder("north.fedkm");
  await backUpFolder(path, out, plain);
  expect(statSync(out).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).sort()).toEqual(["north", "north.fedkm"]);
  // An empty folder is as good as none.
  mkdirSync(inFolder("again"));
  const restored = await restoreFolder(out, inFolder("again"));
  expect(restored).toEqual({
    name: "north",
    savedAt: "1970-01-01T00:00:00.000Z",
    epoch,
    missingData: [inFolder("rows.csv")],
  });
  for (const name of ["key", "device.json", "study.yaml", "links.json", "met.json"]) {
    expect(readFileSync(join(inFolder("again"), name)), name).toEqual(readFileSync(join(path, name)));
  }
  expect(await readFolder(inFolder("again"))).toEqual({ ...(await readFolder(path)), path: inFolder("again") });
  const store = await openStore(inFolder("again"), () => {}, { wallClock: () => 0 });
  expect(store.epoch).toBe(epoch + 1);
  expect(store.saved).toBeUndefined();
  await store.close();
});

test("backUpFolder saves no centroids, and works while the device runs", async () => {
  const { path } = await deviceWith([]);
  const running = await openStore(path, () => {});
  const out = inFolder("out");
  const { files } = await backUpFolder(path, out, plain);
  expect([...files.keys()]).toEqual(["key", "device.json", "study.yaml", "links.json", "met.json"]);
  expect(readFileSync(out, "latin1")).not.toContain(Buffer.from("1234.5").toString("base64").slice(0, 6));
  await running.close();
});

test("restoreFolder refuses a folder with files, and leaves nothing where a file is damaged or missing", async () => {
  const { path } = await deviceWith([]);
  const out = inFolder("north.fedkm");
  await backUpFolder(path, out, plain);
  await expect(restoreFolder(out, path)).rejects.toThrow(/north must be a new or empty folder, got one with files/);
  const { files, ...rest } = await decodeBackup(readFileSync(out));
  const written = async (changes: Iterable<[string, Uint8Array]>) => {
    writeFileSync(out, await encodeBackup({ ...rest, files: new Map([...files, ...changes]) }));
    return out;
  };
  const refusal = async (changes: Iterable<[string, Uint8Array]>) => {
    const error = await restoreFolder(await written(changes), inFolder("again")).catch((error: Error) => error);
    expect(existsSync(inFolder("again"))).toBe(false);
    return error instanceof Error ? error.message : "";
  };
  const noKey = (files.get("key") ?? new Uint8Array()).map((byte, i) => (i === 9 ? byte ^ 1 : byte));
  expect(await refusal([["key", noKey]])).toMatch(/^nothing is restored: .*again\/key must hold the key/);
  expect(await refusal([["study.yaml", Buffer.from("name: no")]])).toMatch(
    /^nothing is restored: .*study\.yaml must be/,
  );
  expect(await refusal([["../evil", Buffer.from("x")]])).toMatch(/must hold files of a device only .*"\.\.\/evil"/);
  expect(readdirSync(folder).sort()).toEqual(["north", "north.fedkm"]);
  await expect(restoreFolder(inFolder("none"), inFolder("again"))).rejects.toThrow(
    /none must be a file that can be read/,
  );
});

test("decodeBackup detects every flipped bit and every lost byte, encrypted or not", async () => {
  const { path } = await deviceWith([]);
  for (const passphrase of [undefined, "a long passphrase"]) {
    await backUpFolder(path, inFolder("out"), { ...plain, passphrase });
    const bytes = readFileSync(inFolder("out"));
    await expect(decodeBackup(bytes, passphrase)).resolves.toMatchObject({ savedAt: "1970-01-01T00:00:00.000Z" });
    const outcomes = await Promise.all(
      Array.from(bytes, (_, at) => {
        const flipped = Buffer.from(bytes);
        flipped[at] ^= 1 << (at % 8);
        return decodeBackup(flipped, passphrase).then(
          () => "taken",
          ({ message }: Error) => message.replace(/,.*/, ""),
        );
      }),
    );
    expect(new Set(outcomes)).toEqual(
      new Set(["backup must be a file that device backup wrote", "backup must be whole"]),
    );
    for (const length of [0, 5, 37, bytes.length - 1]) {
      await expect(decodeBackup(bytes.subarray(0, length), passphrase)).rejects.toThrow(/^backup must be/);
    }
  }
});

test("an encrypted backup shows nothing, and opens with its passphrase only", async () => {
  const { path } = await deviceWith([]);
  await backUpFolder(path, inFolder("out"), { ...plain, passphrase: "right" });
  const bytes = readFileSync(inFolder("out"));
  expect(bytes.includes("links.json")).toBe(false);
  await expect(decodeBackup(bytes)).rejects.toThrow(/must be given with its passphrase .*got none$/);
  await expect(decodeBackup(bytes, "wrong")).rejects.toThrow(
    "passphrase must be the one that the backup was made with",
  );
  expect([...(await decodeBackup(bytes, "right")).files.keys()]).toContain("key");
});
