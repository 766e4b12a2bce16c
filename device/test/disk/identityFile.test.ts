// Keys on disk for their owner's eyes only, and invites that survive a chat.

import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createIdentityFile, readIdentity } from "../../src/disk/identityFile.ts";
import { drawInvite, formatInvite, parseInvite } from "../../src/keys/peer.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-identity-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("makeIdentity writes a key of mode 600 that readIdentity knows again, and never overwrites one", async () => {
  const made = await createIdentityFile(folder);
  expect(statSync(join(folder, "key")).mode & 0o777).toBe(0o600);
  expect(await readIdentity(folder)).toEqual(made);
  await expect(createIdentityFile(folder)).rejects.toThrow("EEXIST");
  expect(await readIdentity(folder)).toEqual(made);
});

test("readIdentity refuses a key that others can read, and bytes that are no key", async () => {
  await createIdentityFile(folder);
  chmodSync(join(folder, "key"), 0o644);
  await expect(readIdentity(folder)).rejects.toThrow(
    "key must be readable by its owner only (chmod 600), got mode 644",
  );
  writeFileSync(join(folder, "key"), "no key at all");
  chmodSync(join(folder, "key"), 0o600);
  await expect(readIdentity(folder)).rejects.toThrow(
    /key must hold the key that device init wrote, .*, got 13 other bytes$/,
  );
  rmSync(join(folder, "key"));
  await expect(readIdentity(folder)).rejects.toThrow(/key must hold the key that device init wrote, .*, got ENOENT/);
});

test("readIdentity judges permissions only where the system has them", async () => {
  const made = await createIdentityFile(folder);
  chmodSync(join(folder, "key"), 0o666);
  await expect(readIdentity(folder, "linux")).rejects.toThrow("got mode 666");
  expect(await readIdentity(folder, "win32")).toEqual(made);
});

test("readIdentity refuses a key with any bit of any of its 68 bytes flipped, and names the file", async () => {
  const { key } = await createIdentityFile(folder);
  expect(key).toHaveLength(68);
  for (let at = 0; at < key.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      writeFileSync(
        join(folder, "key"),
        key.map((byte, i) => (i === at ? byte ^ (1 << bit) : byte)),
      );
      await expect(readIdentity(folder), `byte ${at}, bit ${bit}`).rejects.toThrow(/key must hold the key .* backup/);
    }
  }
});

test("parseInvite reads what formatInvite writes, with and without addresses, and around it white space", async () => {
  const { peer } = await createIdentityFile(folder);
  for (const addresses of [[], ["/ip4/10.0.0.1/tcp/4601", "/dns4/example.org/tcp/443/wss"]]) {
    expect(parseInvite(` ${formatInvite({ peer, addresses })}\n`)).toEqual({ peer, addresses });
  }
});

test("parseInvite says what an invite must be", async () => {
  const { peer } = await createIdentityFile(folder);
  expect(() => parseInvite("hello")).toThrow('invite must look like fedkm:PEER@ADDRESS,ADDRESS, got "hello"');
  expect(() => parseInvite("fedkm:me")).toThrow("invite must be a peer id such as 12D3KooW..., got me");
  expect(() => parseInvite(`fedkm:${peer}@1.2.3.4:99`)).toThrow("invite must be a multiaddress such as");
});

test("drawInvite draws a square of half blocks", async () => {
  const lines = (await drawInvite("fedkm:12D3KooW")).split("\n");
  expect(new Set(lines.map((line) => line.length)).size).toBe(1);
  expect(lines.join("")).toMatch(/^[ ▀▄█]+$/);
  expect(Math.abs(lines.length * 2 - lines[0].length)).toBeLessThanOrEqual(1);
});
