// The list of links: changed whole, named by people, and never silently empty.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  changeLinksFile,
  type Link,
  linksFileWith,
  linksFileWithout,
  readLinksFile,
  writeLinksFile,
} from "../../src/disk/linksFile.ts";
import { createIdentity } from "../../src/keys/peer.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-links-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function link(name: string): Promise<Link> {
  return { name, peer: (await createIdentity()).peer, addresses: ["/ip4/127.0.0.1/tcp/4601"] };
}

test("writeLinks and readLinks keep names, peers and addresses", async () => {
  const links = [await link("north"), await link("south")];
  await writeLinksFile(folder, links);
  expect(await readLinksFile(folder)).toEqual(links);
});

test("withLink adds, and replaces the addresses of a peer that is known", async () => {
  const [north, south] = [await link("north"), await link("south")];
  const moved = { ...north, addresses: [] };
  expect(linksFileWith(linksFileWith([north], south), moved)).toEqual([south, moved]);
  expect(() => linksFileWith([north], { ...south, name: "north" })).toThrow(
    `name must be new (it is that of ${north.peer}), got "north"`,
  );
  expect(() => linksFileWith([north], { ...south, name: "a b" })).toThrow(
    /^name must be 1 to 64 letters, .*, got "a b"$/,
  );
});

test("changeLinks loses none of the links that are made at the same moment", async () => {
  await writeLinksFile(folder, []);
  const links = await Promise.all(["a", "b", "c", "d", "e", "f"].map(link));
  await Promise.all(links.map((one) => changeLinksFile(folder, (others) => linksFileWith(others, one))));
  expect((await readLinksFile(folder)).map(({ name }) => name).sort()).toEqual(["a", "b", "c", "d", "e", "f"]);
  await expect(changeLinksFile(folder, (others) => linksFileWithout(others, "g"))).rejects.toThrow("link to remove");
});

test("withoutLink removes by name, by peer id, or by how one begins, and refuses what is nobody's or two's", async () => {
  const [north, south] = [await link("north"), await link("south")];
  expect(linksFileWithout([north, south], "north")).toEqual([south]);
  expect(linksFileWithout([north, south], south.peer)).toEqual([north]);
  expect(linksFileWithout([north], north.peer.slice(0, 20))).toEqual([]);
  const rule = "link to remove must be one of the links (north, south), by name or peer id";
  for (const which of ["east", "12D3KooW", ""]) {
    expect(() => linksFileWithout([north, south], which)).toThrow(`${rule}, got "${which}"`);
  }
});

test("readLinks refuses a file that is damaged or was edited wrongly, instead of starting without links", async () => {
  const north = await link("north");
  const wrong: [unknown, string][] = [
    ["[{", "links.json must be the device's links, restore it from a backup or write [] and link again: "],
    [{}, "links must be a list of at most 1000"],
    [[{ ...north, name: "a b" }], "links[0].name must be 1 to 64 letters"],
    [[{ ...north, peer: "me" }], "links[0] must be a peer id"],
    [[{ ...north, addresses: ["here"] }], "links[0] must be a multiaddress"],
    [[{ name: "north" }], "links[0] must have a peer and a list of at most 32 addresses"],
    [[north, { ...north, name: "again" }], "links must be of different peers"],
  ];
  for (const [content, message] of wrong) {
    writeFileSync(join(folder, "links.json"), typeof content === "string" ? content : JSON.stringify(content));
    await expect(readLinksFile(folder)).rejects.toThrow(message);
  }
});
