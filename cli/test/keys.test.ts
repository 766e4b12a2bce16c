// fedkm device rotate, revoke and log, and links to peers that somebody has revoked, in folders without processes.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { northStatus } from "../../device/test/daemon/northStatus.ts";
import { runCommandLine } from "../src/program.ts";
import { fakeConsole } from "./fakeConsole.ts";
import { temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
const rows = folder.file("rows.csv", `x\n${Array.from({ length: 30 }, (_, i) => i).join("\n")}\n`);
const study = folder.file(
  "study.yaml",
  "name: keys\nk: 2\nfeatures:\n  - { name: x, unit: m, min: 0, max: 30 }\nalpha: 1\nprivacy: open\nminimum: 1\n",
);
const at = (name: string) => join(folder.path, name);

async function device(...args: string[]) {
  const console = fakeConsole();
  return { code: await runCommandLine(["device", ...args], console), ...console.said() };
}

const factsOf = async (state: string) => JSON.parse((await device("links", "--json", "--state", at(state))).stdout);

async function init(...names: string[]): Promise<void> {
  for (const name of names) {
    const listen = `/ip4/127.0.0.1/tcp/${40_000 + names.indexOf(name)}`;
    await device("init", "--study", study, "--data", rows, "--listen", listen, "--state", at(name));
  }
}

async function link(from: string, to: string, ...more: string[]) {
  return device("link", (await factsOf(to)).invite, "--name", to, "--state", at(from), "--accept", "open", ...more);
}

test("device links and device status warn where robustness cannot hold", async () => {
  await init("lone", "hub");
  await link("lone", "hub");
  const remarks = ["with fewer than three links a neighbour that lies", "the hub of a star"];
  for (const remark of remarks) expect((await device("links", "--state", at("lone"))).stdout).toContain(remark);
  const members = "fewer members than 3 (colluders and two others) hide nothing from each other";
  writeFileSync(at("lone/status.json"), JSON.stringify({ ...northStatus, linkRemarks: [...remarks, members] }));
  for (const remark of [...remarks, members])
    expect((await device("status", "--state", at("lone"))).stdout).toContain(remark);
});

test("device links warns of a study with too few members left", async () => {
  const file = folder.file(
    "shared.yaml",
    "name: keys\nk: 2\nfeatures:\n  - { name: x, unit: m, min: 0, max: 30 }\nclusters: shared\nprivacy: open\nminimum: 1\n",
  );
  await device("init", "--study", file, "--data", rows, "--listen", "/ip4/127.0.0.1/tcp/40009", "--state", at("left"));
  const links = async (members: number) => {
    const status = { ...northStatus, device: { ...northStatus.device, shared: { members } } };
    writeFileSync(at("left/status.json"), JSON.stringify(status));
    return (await device("links", "--state", at("left"))).stdout;
  };
  expect(await links(2)).toContain("fewer members than 3 (colluders and two others) hide nothing from each other\n");
  expect(await links(3)).not.toContain("fewer members");
});

test("device rotate waits for links, --accept absent does not, the successor is handed over, and the log holds all of it", async () => {
  await init("north", "south");
  await link("north", "south");
  await link("south", "north");
  const { peer: old } = (await factsOf("south")).links[0];
  const waiting = await device("rotate", "--state", at("north"));
  expect(waiting.stdout).toMatch(
    /^north has a new key: 12D3.*\n.*when all neighbours know it; they do not yet: south\n/,
  );
  expect((await factsOf("north")).keys).toMatchObject({ next: expect.stringMatching(/^12D3/), behind: ["south"] });
  const done = await device("rotate", "--accept", "absent", "--state", at("north"));
  expect(done.stdout).toContain(
    "it is used from the next start on\nthe old key is kept for neighbours that do not know the new one yet: south",
  );
  expect((await factsOf("north")).invite).not.toContain(old);
  const followed = await device("follow", at("north/successor"), "--state", at("south"));
  expect(followed.stdout).toBe("north is linked by its new key\n");
  expect((await device("links", "--state", at("south"))).stdout).toContain(
    "with fewer than three links a neighbour that lies cannot be told from the others\n",
  );
  expect((await device("links", "--state", at("south"))).stdout).toContain(
    `before: ${old}; it has not connected with it yet`,
  );

  const log = await device("log", "--state", at("north"));
  expect(log.code).toBe(0);
  expect(log.stdout).toMatch(
    / {2}linked {2}link south, peer 12D3.*\n.* {2}rotating .*\n.* {2}rotated .*\n\n3 lines in one whole/,
  );
  const file = at("north/audit.jsonl");
  writeFileSync(file, readFileSync(file, "utf8").replace("south", "coast"));
  const broken = await device("log", "--json", "--state", at("north"));
  expect(broken.code).toBe(1);
  expect(JSON.parse(broken.stdout)).toMatchObject({ isWhole: false, broken: { file: "audit.jsonl", line: 2 } });
  expect(broken.stderr).toMatch(/audit\.jsonl, line 2 must follow the line before it, got a broken chain\n$/);
});

test("device revoke unlinks, and a revoked peer is linked again only with --accept revoked", async () => {
  await init("east", "west");
  await link("east", "west");
  const revoked = await device("revoke", "west", "--reason", "its disk was stolen", "--state", at("east"));
  expect(revoked.stdout).toMatch(/^revoked west, which is unlinked here\n/);
  expect((await factsOf("east")).links).toEqual([]);
  const refused = await link("east", "west");
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(
    /--accept revoked links it nevertheless\), and this device said at .*: its disk was stolen\n$/,
  );
  expect((await link("east", "west", "--accept", "revoked")).code).toBe(0);
  expect((await factsOf("east")).keys.revoked).toMatchObject([
    { signer: "this device", peer: "west", isOverruled: true },
  ]);
  const own = await device("revoke", (await factsOf("west")).invite.slice(6, 58), "--state", at("west"));
  expect(own.stdout).toMatch(/^west has revoked its own key/);
  expect((await device("revoke", "nobody", "--state", at("west"))).stderr).toContain("must be one of the links (none)");
});
