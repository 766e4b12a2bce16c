// A new key on disk: whenever power fails, the device has its old key or its new one, and knows who follows.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Contents, crashStates, simulatedDisk } from "../../../lab/src/faults/durability.ts";
import { createIdentityFile, identityInFile, readIdentity } from "../../src/disk/identityFile.ts";
import {
  behindRotation,
  changeRotationFile,
  finishRotationFile,
  isRotationDue,
  prepareRotationFile,
  readOldKeyFile,
  readRotationFile,
  removeOldKeyFiles,
} from "../../src/disk/keyFiles.ts";
import { isVouched } from "../../src/keys/statements.ts";
import { identity } from "../keys/identities.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-rotation-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("a rotation ends in the old key or in the new one, and can go on, whenever power fails", async () => {
  const own = identity(1);
  const start: Contents = new Map([["state/key", own.key]]);
  const disk = simulatedDisk(start);
  const { next } = await prepareRotationFile("state", 5, disk);
  expect(await finishRotationFile("state", [], disk)).toEqual({ from: own.peer, to: next });
  const found = { states: 0, old: 0, new: 0 };
  const seen = new Set<string>();
  for (const { contents } of crashStates(start, disk.calls)) {
    const after = simulatedDisk(contents);
    const { peer } = identityInFile("key", contents.get("state/key") ?? new Uint8Array(0));
    found.states += 1;
    if (peer === own.peer) found.old += 1;
    if (peer === next) found.new += 1;
    // Whatever is left, the command can be typed again and comes to its end. Most states differ in leftovers only.
    const looks = ["key", "key.next", "rotation.json"].map((name) => contents.get(`state/${name}`)?.join(" ")).join();
    if (seen.has(looks)) continue;
    seen.add(looks);
    const again = await prepareRotationFile("state", 6, after);
    expect(await finishRotationFile("state", [], after)).toEqual({ from: peer, to: again.next });
    const { successors } = await readRotationFile("state", after);
    expect(successors.every(isVouched)).toBe(true);
    expect(successors.at(-1)?.next).toBe(again.next);
  }
  expect(found.states).toBeGreaterThan(30);
  expect(Math.min(found.old, found.new)).toBeGreaterThan(0);
  expect(found.old + found.new).toBe(found.states);
});

test("finishRotation waits for neighbours, or for the owner's word, and keeps the old key for those that lag behind", async () => {
  const { peer: first } = await createIdentityFile(folder);
  const neighbours = ["north", "south"];
  const { next: second } = await prepareRotationFile(folder, 5);
  expect(await prepareRotationFile(folder, 9)).toMatchObject({ next: second, time: 5 });
  expect(behindRotation(await readRotationFile(folder), first, neighbours)).toEqual(neighbours);
  expect(await finishRotationFile(folder, neighbours)).toBeUndefined();
  await changeRotationFile(folder, (now) => ({ ...now, knows: { north: second } }));
  expect(isRotationDue(await readRotationFile(folder), first, neighbours)).toBe(false);
  expect(isRotationDue(await readRotationFile(folder), first, ["north"])).toBe(true);
  await changeRotationFile(folder, (now) => ({ ...now, due: second }));
  expect(await finishRotationFile(folder, neighbours)).toEqual({ from: first, to: second });
  expect((await readIdentity(folder)).peer).toBe(second);
  expect(behindRotation(await readRotationFile(folder), second, [...neighbours, "new"])).toEqual(["south"]);
  expect((await readOldKeyFile(folder, first))?.peer).toBe(first);

  // Another one while south is still away: it knows the first key only.
  const { next: third } = await prepareRotationFile(folder, 6);
  const twice = await readRotationFile(folder);
  expect(twice.successors.map(({ old }) => old)).toEqual([first, second]);
  expect(twice.knows.south).toBe(first);
  await changeRotationFile(folder, (now) => ({ ...now, due: third }));
  await finishRotationFile(folder, neighbours);
  await removeOldKeyFiles(folder, [first]);
  expect(await readOldKeyFile(folder, second)).toBeUndefined();
  expect((await readOldKeyFile(folder, first))?.peer).toBe(first);
});

test("a damaged rotation.json or another key.next is named, and the key stays as it is", async () => {
  const { peer } = await createIdentityFile(folder);
  await prepareRotationFile(folder, 5);
  writeFileSync(join(folder, "key.next"), identity(9).key, { mode: 0o600 });
  await expect(finishRotationFile(folder, [])).rejects.toThrow(/key\.next must be the key of .*, got that of/);
  writeFileSync(join(folder, "rotation.json"), "{}");
  await expect(finishRotationFile(folder, [])).rejects.toThrow(/rotation\.json must be what device rotate wrote/);
  expect((await readIdentity(folder)).peer).toBe(peer);
});
