// Whose word counts: neighbours a few times a day, a key about itself, nobody else; and floods that push out themselves.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  changeRevokedFile,
  isUnknownRevocation,
  type KnownRevocation,
  knownRevocationsOf,
  overruleKnownRevocations,
  readRevokedFile,
  withKnownRevocation,
} from "../../src/disk/keyFiles.ts";
import { makeRevocation } from "../../src/keys/statements.ts";
import { identity } from "../keys/identities.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-revoked-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const ids = Array.from({ length: 100 }, (_, i) => identity(i + 1));
const names = ["north", "south", "east", "west", "coast", "isle"];
const links = names.map((name, i) => ({ name, peer: ids[i].peer, addresses: [] }));
const [north, south] = ids;
const stranger = ids[50];
const day = 86_400_000;
const said = (signer = north, revoked = south.peer, time = 1) => makeRevocation(signer, revoked, "", time);
const hear = (list: readonly KnownRevocation[], revocation: ReturnType<typeof said>, at = 0, via = north.peer) =>
  withKnownRevocation(list, revocation, { links, via, at: new Date(at) });
const unlinked = (list: readonly KnownRevocation[]) => list.map((entry) => entry.unlinked?.name ?? null);

test("withRevocation unlinks at the word of a neighbour or of the key itself, and only keeps that of others", () => {
  expect(unlinked(hear([], said(north)))).toEqual(["south"]);
  expect(unlinked(hear([], said(south)))).toEqual(["south"]);
  expect(unlinked(hear([], said(stranger)))).toEqual([null]);
  expect(unlinked(hear([], said(north, stranger.peer)))).toEqual([null]);
});

test("withRevocation takes a neighbour's word three times a day", () => {
  let list: KnownRevocation[] = [];
  for (const [n, { peer }] of links.slice(1).entries()) list = hear(list, said(north, peer), n);
  expect(unlinked(list)).toEqual(["south", "east", "west", null, null]);
  expect(unlinked(hear(list, said(south, links[5].peer), 9)).at(-1)).toBe("isle");
  expect(unlinked(hear(list, said(north, links[5].peer, 2), day + 9)).at(-1)).toBe("isle");
});

test("isNews knows a revocation that comes again, and takes a later one of the same signer", () => {
  const list = hear([], said(north, south.peer, 5));
  expect([4, 5, 6].map((time) => isUnknownRevocation(list, said(north, south.peer, time)))).toEqual([
    false,
    false,
    true,
  ]);
  expect(isUnknownRevocation(list, said(stranger, south.peer, 1))).toBe(true);
  expect(hear(list, said(north, south.peer, 6))).toHaveLength(1);
});

test("overrule holds for what was said, also when it is said again, and not for others", () => {
  const list = overruleKnownRevocations(hear([], said(north)), south.peer);
  expect(knownRevocationsOf(list, south.peer)).toEqual([]);
  expect(unlinked(hear(list, said(north, south.peer, 2)))).toEqual([null]);
  expect(unlinked(hear(list, said(ids[2])))).toEqual(["south", "south"]);
});

test("withRevocation keeps 64, and a neighbour that floods pushes out what it brought itself", () => {
  let list = hear(hear([], said(north, stranger.peer)), said(ids[60], ids[61].peer), 1, south.peer);
  const own = makeRevocation(north, ids[70].peer, "", 1);
  list = withKnownRevocation(list, own, { links, via: null, at: new Date(0) });
  for (let n = 0; n < 80; n++)
    list = hear(list, said(ids[10 + (n % 40)], ids[50 + (n % 37)].peer, n + 2), n + 2, ids[2].peer);
  expect(list).toHaveLength(64);
  expect(list.filter(({ via }) => via !== ids[2].peer)).toHaveLength(3);
});

test("changeRevoked keeps all of it in a file, and readRevoked names one that is damaged", async () => {
  expect(await readRevokedFile(folder)).toEqual([]);
  const list = hear([], said(north));
  await changeRevokedFile(folder, () => list);
  expect(await readRevokedFile(folder)).toEqual(list);
  writeFileSync(join(folder, "revoked.json"), '[{"statement":"AAAA"}]');
  await expect(readRevokedFile(folder)).rejects.toThrow(/revoked\.json must be what devices said .* whole and signed/);
});
