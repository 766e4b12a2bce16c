// met.json: where neighbours were last met survives a restart, and its loss costs nothing else.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { peerAddressKeeper, readPeerAddresses } from "../../src/disk/linksFile.ts";
import { manualClock } from "../links/manualClock.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-met-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const silent = (line: string | undefined) => {
  if (line !== undefined) throw new Error("no warning was expected");
};

test("metKeeper writes the latest after 5 s or at the end, and readMet gives it back", async () => {
  const clock = manualClock();
  const keeper = peerAddressKeeper(folder, clock, silent);
  keeper.keep({ a: ["/ip4/10.0.0.1/tcp/1"] });
  keeper.keep({ a: ["/ip4/10.0.0.2/tcp/1"] });
  clock.advance(4_999);
  expect(readdirSync(folder)).toEqual([]);
  clock.advance(1);
  await expect.poll(() => readPeerAddresses(folder, silent)).toEqual({ a: ["/ip4/10.0.0.2/tcp/1"] });
  keeper.keep({ a: ["/ip4/10.0.0.3/tcp/1"] });
  await keeper.close();
  expect(await readPeerAddresses(folder, silent)).toEqual({ a: ["/ip4/10.0.0.3/tcp/1"] });
  expect(clock.due()).toEqual([]);
});

test("metKeeper writes again what it could not, without anybody moving, and says that it is over", async () => {
  const clock = manualClock();
  const said: (string | undefined)[] = [];
  const away = join(folder, "away");
  const keeper = peerAddressKeeper(away, clock, (line) => said.push(line));
  keeper.keep({ a: ["/ip4/10.0.0.1/tcp/1"] });
  clock.advance(5_000);
  await expect.poll(() => said).toEqual([expect.stringMatching(/^where neighbours were met is not kept: ENOENT/)]);
  mkdirSync(away);
  await expect.poll(() => clock.due()).toHaveLength(1);
  clock.advance(5_000);
  await expect.poll(() => said.at(-1)).toBeUndefined();
  expect(await readPeerAddresses(away, silent)).toEqual({ a: ["/ip4/10.0.0.1/tcp/1"] });
  rmSync(away, { recursive: true });
  keeper.keep({});
  await keeper.close();
  expect(clock.due()).toEqual([]);
});

test("readMet gives nothing where there is no file, says so where it is damaged, and drops what nobody can dial", async () => {
  expect(await readPeerAddresses(folder, silent)).toEqual({});
  const said: string[] = [];
  for (const text of ["{", "null", '{"a":1}']) {
    writeFileSync(join(folder, "met.json"), text);
    expect(await readPeerAddresses(folder, (line) => said.push(line))).toEqual({});
  }
  expect(said).toHaveLength(3);
  expect(said[0]).toMatch(/met\.json is not used, neighbours are looked for at the addresses of their links: /);
  writeFileSync(join(folder, "met.json"), '{"a":["here","/ip4/0.0.0.0/tcp/1","/ip4/10.0.0.1/tcp/1"]}');
  expect(await readPeerAddresses(folder, silent)).toEqual({ a: ["/ip4/10.0.0.1/tcp/1"] });
});
