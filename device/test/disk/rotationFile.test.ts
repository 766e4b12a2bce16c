// A new key on disk: whenever power fails, the device has its old key or its new one, and knows who follows.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Contents, crashStates, simulatedDisk } from "../../../lab/src/faults/durability.ts";
import { makeIdentity, provedIdentity, readIdentity } from "../../src/disk/identityFile.ts";
import {
  behind,
  changeRotation,
  finishRotation,
  isDue,
  prepareRotation,
  readOldKey,
  readRotation,
  removeOldKeys,
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
  const { next } = await prepareRotation("state", 5, disk);
  expect(await finishRotation("state", [], disk)).toEqual({ from: own.peer, to: next });
  const found = { states: 0, old: 0, new: 0 };
  const seen = new Set<string>();
  for (const { contents } of crashStates(start, disk.calls)) {
    const after = simulatedDisk(contents);
    const { peer } = provedIdentity("key", contents.get("state/key") ?? new Uint8Array(0));
    found.states += 1;
    if (peer === own.peer) found.old += 1;
    if (peer === next) found.new += 1;
    // Whatever is left, the command can be typed again and comes to its end. Most states differ in leftovers only.
    const looks = ["key", "key.next", "rotation.json"].map((name) => contents.get(`state/${name}`)?.join(" ")).join();
    if (seen.has(looks)) continue;
    seen.add(looks);
    const again = await prepareRotation("state", 6, after);
    expect(await finishRotation("state", [], after)).toEqual({ from: peer, to: again.next });
    const { successors } = await readRotation("state", after);
    expect(successors.every(isVouched)).toBe(true);
    expect(successors.at(-1)?.next).toBe(again.next);
  }
  expect(found.states).toBeGreaterThan(30);
  expect(Math.min(found.old, found.new)).toBeGreaterThan(0);
  expect(found.old + found.new).toBe(found.states);
});

test("finishRotation waits for neighbours, or for the owner's word, and keeps the old key for those that lag behind", async () => {
  const { peer: first } = await makeIdentity(folder);
  const neighbours = ["north", "south"];
  const { next: second } = await prepareRotation(folder, 5);
  expect(await prepareRotation(folder, 9)).toMatchObject({ next: second, time: 5 });
  expect(behind(await readRotation(folder), first, neighbours)).toEqual(neighbours);
  expect(await finishRotation(folder, neighbours)).toBeUndefined();
  await changeRotation(folder, (now) => ({ ...now, knows: { north: second } }));
  expect(isDue(await readRotation(folder), first, neighbours)).toBe(false);
  expect(isDue(await readRotation(folder), first, ["north"])).toBe(true);
  await changeRotation(folder, (now) => ({ ...now, due: second }));
  expect(await finishRotation(folder, neighbours)).toEqual({ from: first, to: second });
  expect((await readIdentity(folder)).peer).toBe(second);
  expect(behind(await readRotation(folder), second, [...neighbours, "new"])).toEqual(["south"]);
  expect((await readOldKey(folder, first))?.peer).toBe(first);

  // Another one while south is still away: it knows the first key only.
  const { next: third } = await prepareRotation(folder, 6);
  const twice = await readRotation(folder);
  expect(twice.successors.map(({ old }) => old)).toEqual([first, second]);
  expect(twice.knows.south).toBe(first);
  await changeRotation(folder, (now) => ({ ...now, due: third }));
  await finishRotation(folder, neighbours);
  await removeOldKeys(folder, [first]);
  expect(await readOldKey(folder, second)).toBeUndefined();
  expect((await readOldKey(folder, first))?.peer).toBe(first);
});

test("a damaged rotation.json or another key.next is named, and the key stays as it is", async () => {
  const { peer } = await makeIdentity(folder);
  await prepareRotation(folder, 5);
  writeFileSync(join(folder, "key.next"), identity(9).key, { mode: 0o600 });
  await expect(finishRotation(folder, [])).rejects.toThrow(/key\.next must be the key of .*, got that of/);
  writeFileSync(join(folder, "rotation.json"), "{}");
  await expect(finishRotation(folder, [])).rejects.toThrow(/rotation\.json must be what device rotate wrote/);
  expect((await readIdentity(folder)).peer).toBe(peer);
});
