// fedkm device from the command line: two real processes on this machine, linked by their invites alone.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { complete, fit, paperData, toRows } from "@fedkm/core";
import { createIdentity } from "@fedkm/device/libp2p";
import { afterEach, beforeEach, expect, test } from "vitest";
import { studyText } from "../../device/test/problem.ts";
import { eventually } from "../../test/eventually.ts";
import { runCommandLine } from "../src/program.ts";
import { fakeConsole } from "./fakeConsole.ts";

const program = fileURLToPath(new URL("../bin/fedkm.js", import.meta.url));

let folder = "";
let children: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-device-"));
});
afterEach(async () => {
  await Promise.all(children.map((child) => stop(child, "SIGKILL")));
  children = [];
  rmSync(folder, { recursive: true });
});

const at = (...parts: string[]) => join(folder, ...parts);

async function device(...args: string[]) {
  const console = fakeConsole();
  return { code: await runCommandLine(["device", ...args], console), ...console.said() };
}

/** A device's own process; what it logs is kept. */
function start(state: string, ...args: string[]) {
  const child = spawn(process.execPath, [program, "device", "run", "--state", at(state), ...args], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  children.push(child);
  const log = { text: "" };
  child.stderr.on("data", (chunk) => {
    log.text += chunk;
  });
  return { child, log };
}

/** `device status --watch` in a process of its own, and whether the device ran at each of its looks. */
function watchStatus(state: string) {
  const child = spawn(process.execPath, [program, "device", "status", "--watch", "--json", "--state", at(state)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  const lines = () => text.split("\n").slice(0, -1);
  return { child, running: () => lines().map((line): boolean => JSON.parse(line).isRunning) };
}

async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, "exit");
  child.kill(signal);
  return (await exited)[0];
}

const statusOf = async (state: string) => JSON.parse((await device("status", "--state", at(state), "--json")).stdout);
const linksOf = async (state: string) => JSON.parse((await device("links", "--state", at(state), "--json")).stdout);

const { datasets } = paperData("iso", 2, 100, 3);

function writeData(name: string, rows: readonly (readonly number[])[]): string {
  writeFileSync(at(name), `x,y\n${rows.map((row) => row.join(",")).join("\n")}\n`);
  return at(name);
}

async function init(state: string, index: number, alpha = 1): Promise<void> {
  const study = at(`${state}.yaml`);
  const features = ["--feature", "x:-30:30", "y:-30:30"];
  await runCommandLine(["study", "init", "--alpha", String(alpha), ...features, "--out", study], fakeConsole());
  const data = writeData(`${state}.csv`, toRows(datasets[index]));
  const { code, stdout } = await device("init", "--study", study, "--data", data, "--state", at(state));
  expect(code).toBe(0);
  expect(stdout).toMatch(/^fedkm:12D3KooW\w+@\/ip4\/[\d.]+\/tcp\/\d+/m);
}

test("two devices link by invites, agree as fit does, fold in new rows, stop when told, and log no data", async () => {
  await init("north", 0);
  await init("south", 1);
  expect(statSync(at("north", "key")).mode & 0o777).toBe(0o600);
  const north = start("north");
  const south = start("south");
  const invites = { north: (await linksOf("north")).invite, south: (await linksOf("south")).invite };

  // One side alone gets nothing: the other one lists a stranger.
  await device("link", invites.south, "--name", "south", "--state", at("north"));
  await eventually(async () => expect((await linksOf("south")).pending).toHaveLength(1), folder);
  expect((await statusOf("north")).links).toMatchObject([{ name: "south", isConnected: false, framesHeard: 0 }]);
  expect((await device("links", "--state", at("south"))).stdout).toContain("wait to be linked back:");
  await eventually(async () => {
    const { stdout } = await device("status", "--state", at("north"));
    expect(stdout).toMatch(/^south: it has not linked back \(run "fedkm device accept" there\)/m);
  }, folder);
  // The list names those that wait, and one of them is taken without its invite.
  const { peer } = (await linksOf("south")).pending[0];
  expect((await device("accept", "--state", at("south"))).stdout).toContain(`  ${peer} from /ip`);
  expect((await device("accept", peer.slice(-8), "--name", "north", "--state", at("south"))).code).toBe(0);
  const settled = async (state: string) => {
    const status = await statusOf(state);
    expect(status.links).toMatchObject([{ isConnected: true }]);
    expect(status.links[0].framesHeard).toBeGreaterThan(0);
    expect(status.device.phase).toBe("settled");
    return status;
  };
  const [here, there] = [
    await eventually(() => settled("north"), folder),
    await eventually(() => settled("south"), folder),
  ];
  expect((await linksOf("south")).pending).toEqual([]);

  const model = fit(datasets, complete(2), { k: 3, alpha: 1, schedule: "cyclic", seed: 1 });
  // Guarded, a few rows may count for another cluster than their nearest.
  const ratio = (here.device.objective + there.device.objective) / model.objective;
  expect(Math.abs(ratio - 1)).toBeLessThan(0.01);
  // It may still move a little: what is exported is what it wrote last.
  const exported = await eventually(async () => {
    const { centroids } = (await statusOf("north")).device;
    await device("export", "--state", at("north"), "--out", at("model.json"));
    const model = JSON.parse(readFileSync(at("model.json"), "utf8"));
    expect(model.devices).toMatchObject([{ name: "north", rows: 100, centroids }]);
    return model;
  }, folder);
  expect(exported).toMatchObject({ format: "fedkm-model", version: 1, columns: ["x", "y"], converged: true });
  expect(exported.devices[0].sizes.reduce((sum: number, size: number) => sum + size)).toBe(100);

  writeData("north.csv", [...toRows(datasets[0]), ...toRows(datasets[1])]);
  await eventually(async () => expect((await statusOf("north")).device.rows).toBe(200), folder);

  expect([await stop(north.child, "SIGTERM"), await stop(south.child, "SIGINT")]).toEqual([0, 0]);
  expect(await statusOf("north")).toMatchObject({ isRunning: false, links: [{ name: "south" }] });
  const values = new Set(datasets.flatMap(({ data }) => Array.from(data, String)));
  for (const value of values) expect(north.log.text + south.log.text).not.toContain(value);
  for (const line of north.log.text.trimEnd().split("\n")) {
    expect(JSON.parse(line)).toMatchObject({ level: expect.stringMatching(/^(info|warn)$/), msg: expect.any(String) });
  }
});

test("fedkm device link loses none of six that are made at the same moment", async () => {
  await init("north", 0);
  const identities = await Promise.all(Array.from({ length: 6 }, createIdentity));
  const invites = identities.map(({ peer }) => `fedkm:${peer}`);
  const said = await Promise.all(invites.map((invite) => device("link", invite, "--state", at("north"))));
  expect(said.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0]);
  expect((await linksOf("north")).links).toHaveLength(6);
});

test("fedkm device init gives no invite that nobody can dial, and fedkm device relay says from when on it counts", async () => {
  await init("north", 0);
  const made = (...args: string[]) =>
    device("init", "--study", at("north.yaml"), "--data", at("north.csv"), "--state", at("south"), ...args);
  expect(await made("--announce", "/ip6/::/tcp/4601")).toMatchObject({
    code: 1,
    stderr: "fedkm: an address must have a host and a port that others can dial, got /ip6/::/tcp/4601\n",
  });
  const { stdout } = await made("--listen", "/ip4/0.0.0.0/tcp/0");
  expect(stdout).not.toContain("fedkm:12D3KooW");
  expect(stdout).toContain("none yet: the device listens on any free port");
  expect((await linksOf("south")).invite).toBeNull();
  start("south");
  await eventually(async () => {
    expect((await linksOf("south")).invite).toMatch(/^fedkm:\w+@\/ip4\/(?!0\.)[\d.]+\/tcp\/[1-9]\d*/);
  }, folder);
  const open = `fedkm:${(await createIdentity()).peer}@/ip4/0.0.0.0/tcp/4601`;
  expect((await device("link", open, "--state", at("north"))).stderr).toMatch(/^fedkm: invite must have a host/);
  const relay = (choice: string, state: string) => device("relay", choice, "--state", at(state));
  const relays = (state: string) => JSON.parse(readFileSync(at(state, "device.json"), "utf8")).relay;
  expect((await relay("on", "south")).stdout).toMatch(
    /^south relays between its neighbours when it is started again: /,
  );
  expect((await relay("on", "north")).stdout).toBe("north relays between its neighbours when it is run\n");
  expect([relays("north"), relays("south")]).toEqual([true, true]);
  expect((await relay("off", "north")).stdout).toBe("north relays for nobody when it is run\n");
  expect(relays("north")).toBeUndefined();
  expect((await relay("maybe", "north")).stderr).toBe('fedkm: relay must be on or off, got "maybe"\n');
});

test("devices of different studies refuse each other, and both say which field differs", async () => {
  await init("north", 0, 1);
  await init("south", 1, 2);
  const invites = { north: (await linksOf("north")).invite, south: (await linksOf("south")).invite };
  await device("link", invites.south, "--name", "south", "--state", at("north"));
  await device("link", invites.north, "--name", "north", "--state", at("south"));
  start("north");
  start("south");
  for (const state of ["north", "south"]) {
    await eventually(async () => {
      const [link] = (await statusOf(state)).links;
      expect(link.refusal).toMatch(/^another study, alpha/);
    }, folder);
    // What a device says of itself and of its link is written at different moments.
    await eventually(async () => {
      const { code, stdout } = await device("status", "--state", at(state));
      expect(code).toBe(4);
      expect(stdout).toMatch(
        /^(north refuses south|south refuses north), for .*\n {2}refuses \w+, .* is refused: another study, alpha/,
      );
      expect(stdout).toMatch(/ Agree on one study\.$/m);
      expect(stdout).toMatch(/^(north|south): another study, alpha/m);
      expect(stdout).toMatch(/^(north|south): running as process \d+, status of [\d.]+ m?s ago, alone$/m);
    }, folder);
  }
  // Whoever reads the other's study before it has sent a frame sends none, so what the status says of frames is put there.
  await Promise.all(children.map((child) => stop(child, "SIGTERM")));
  const file = at("north", "status.json");
  const written = JSON.parse(readFileSync(file, "utf8"));
  const links = [{ ...written.links[0], framesRefused: { study: 2 } }];
  writeFileSync(file, JSON.stringify({ ...written, links }));
  const { stdout } = await device("status", "--state", at("north"));
  expect(stdout).toMatch(/^south: frames refused by reason: 2 study$/m);
});

test("a folder has one device: a second process is refused in one line, and a killed one can be started again", async () => {
  await init("north", 0);
  const first = start("north");
  await eventually(() => expect(first.log.text).toContain("listening"), folder);
  const second = start("north");
  expect(await once(second.child, "exit")).toEqual([1, null]);
  expect(second.log.text.trimEnd().split("\n").at(-1)).toMatch(
    /^fedkm: .*north must be free, got one in which a device runs$/,
  );
  const watch = watchStatus("north");
  await eventually(() => expect(watch.running().filter((is) => is).length).toBeGreaterThan(1), folder);
  const file = at("north", "status.json");
  expect(await device("status", "--state", at("north"))).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Nothing is wrong: north answers\n/),
  });
  // A process that hangs holds its lock, and says nothing any more, whatever it wrote last.
  first.child.kill("SIGSTOP");
  const hanging = await device("status", "--state", at("north"));
  expect(hanging).toMatchObject({ code: 3, stderr: "fedkm: north does not answer\n" });
  expect(hanging.stdout).toMatch(
    /^north does not answer, for .*\n.*suspended by a signal\. kill -CONT \d+ continues it\.\nnorth: process \d+ does not answer, status of /,
  );
  await stop(first.child, "SIGKILL");
  await eventually(() => expect(watch.running().at(-1)).toBe(false), folder);
  expect(await stop(watch.child, "SIGINT")).toBe(0);
  // Its last words were that it runs, its process's number may be another's by now, and nobody holds its lock.
  const status = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...status, pid: process.pid, writtenAt: new Date().toISOString() }));
  const said = await device("status", "--state", at("north"));
  expect(said).toMatchObject({ code: 3, stderr: "fedkm: north does not answer\n" });
  expect(said.stdout).toMatch(
    /^north does not answer, .*\n.*is gone, and ended without a word\. fedkm device run --state .* starts it\.\nnorth: not running/,
  );
  expect((await statusOf("north")).isRunning).toBe(false);
  // After a power failure the file may be empty.
  writeFileSync(file, "");
  expect((await device("status", "--state", at("north"))).stderr).toMatch(/got one without a status\n$/);
  expect((await device("links", "--state", at("north"))).code).toBe(0);
  const third = start("north");
  await eventually(() => expect(third.log.text).toContain("listening"), folder);
});

test("fedkm device export refuses clusters of another study than the one in the folder", async () => {
  await init("north", 0);
  const exported = () => device("export", "--state", at("north"), "--out", at("model.json"));
  const first = start("north");
  await eventually(async () => expect((await exported()).code).toBe(0), folder);
  await stop(first.child, "SIGTERM");
  rmSync(at("model.json"));
  const study = at("north", "study.yaml");
  const text = readFileSync(study, "utf8");
  writeFileSync(
    study,
    text.replaceAll(/name: "[xy]"/g, (name) => (name.includes("x") ? 'name: "y"' : 'name: "x"')),
  );
  expect(await exported()).toEqual({
    code: 1,
    stdout: "",
    stderr: `fedkm: the study in ${at("north")} must be the one its clusters are of, got an edited one: run the device again, then export\n`,
  });
  expect(existsSync(at("model.json"))).toBe(false);
  // What was published of other columns is not known of these.
  expect((await device("consent", "--state", at("north"))).stdout).toContain("if its history is lost, it begins anew");
  start("north");
  await eventually(async () => expect((await exported()).code).toBe(0), folder);
  expect(JSON.parse(readFileSync(at("model.json"), "utf8")).columns).toEqual(["y", "x"]);
});

test("fedkm device run --metrics serves numbers to this machine and not to a web page under another name", async () => {
  await init("north", 0);
  const { child, log } = start("north", "--metrics", "0");
  await eventually(() => expect(log.text).toContain("metrics"), folder);
  const port = /"metrics":(\d+)/.exec(log.text)?.[1];
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(text).toMatch(/^# TYPE fedkm_rounds counter$/m);
  expect(text).toMatch(/^fedkm_build_info{version="\d+\.\d+\.\d+"} 1$/m);
  expect(await (await fetch(`http://127.0.0.1:${port}/healthz`)).text()).toBe("ok\n");
  expect(text).toMatch(/^fedkm_rows 100$/m);
  expect((await fetch(`http://127.0.0.1:${port}/elsewhere`)).status).toBe(404);
  expect(await stop(child, "SIGTERM")).toBe(0);
});

test("fedkm device init warns of rows that do not count, and makes the device all the same", async () => {
  const study = at("study.yaml");
  await runCommandLine(["study", "init", "--feature", "x:100:130", "y:-30:30", "--out", study], fakeConsole());
  const data = writeData("rows.csv", toRows(datasets[0]));
  const said = await device("init", "--study", study, "--data", data, "--state", at("north"));
  expect(said).toMatchObject({
    code: 0,
    stderr:
      "fedkm: warning: none of 100 rows counts, 30 are needed (k 3 x minimum 10): 100 are out of the study's bounds (x is not within 100 and 130 in 100)\n",
  });
});

test("fedkm device says what is wrong in one line", async () => {
  await init("north", 0);
  const { invite } = await linksOf("north");
  const fails = async (code: number, line: RegExp, ...args: string[]) => {
    const said = await device(...args);
    expect(said).toMatchObject({ code, stdout: "" });
    expect(said.stderr).toMatch(line);
  };
  await fails(1, /^fedkm: .*nowhere must be a folder that "fedkm device init" made/, "links", "--state", at("nowhere"));
  await fails(1, /^fedkm: .*north must be the folder of a device that has run/, "status", "--state", at("north"));
  await fails(1, /^fedkm: .*north must be the folder of a device that has clusters/, "export", "--state", at("north"));
  await fails(2, /^fedkm: missing required argument 'invite'\n$/, "link", "--state", at("north"));
  await fails(
    2,
    /^fedkm: invite must be of another device, got this one's own\n$/,
    "link",
    invite,
    "--state",
    at("north"),
  );
  await fails(
    1,
    /^fedkm: invite must look like fedkm:PEER@ADDRESS,ADDRESS, got "hello"\n$/,
    "link",
    "hello",
    "--state",
    at("north"),
  );
  await fails(1, /^fedkm: link to remove must be one of the links \(none\)/, "unlink", "x", "--state", at("north"));
  await fails(
    1,
    /^fedkm: device to accept must be one of those that wait \(none\), by peer id, got "12D3KooW"\n$/,
    "accept",
    "12D3KooW",
    "--state",
    at("north"),
  );
  const again = ["init", "--study", at("north.yaml"), "--data", at("north.csv"), "--state", at("north")];
  await fails(1, /^fedkm: .*north must be a new or empty folder, got one with files\n$/, ...again);
  await fails(2, /^fedkm: --log must be one of/, "run", "--log", "loud", "--state", at("north"));
});

test("device backup and device restore: one file for one device, said in words, refused where it would do harm", async () => {
  const rows = at("north.csv");
  writeFileSync(rows, "x1,x2\n1,1\n2,2\n3,3\n");
  writeFileSync(at("study.yaml"), studyText);
  await device("init", "--study", at("study.yaml"), "--data", rows, "--state", at("north"));
  const [out, secret] = [at("north.fedkm"), at("secret")];
  const open = await device("backup", "--state", at("north"), "--out", out);
  expect(open.stdout).toMatch(
    /^wrote .*: key, device\.json, study\.yaml, links\.json and the epoch; it holds the secret key/,
  );
  writeFileSync(secret, "open sesame\nmore\n");
  const hidden = await device("backup", "--state", at("north"), "--out", out, "--passphrase-file", secret);
  expect(hidden.stdout).toMatch(/it is encrypted: without the passphrase nobody can restore it\n$/);
  expect((await device("restore", out, "--state", at("north"))).stderr).toMatch(/must be a new or empty folder/);
  expect((await device("restore", out, "--state", at("again"))).stderr).toMatch(/given with its passphrase/);
  rmSync(rows);
  const restored = await device("restore", out, "--state", at("again"), "--passphrase-file", secret);
  expect(restored).toMatchObject({ code: 0, stderr: "" });
  expect(restored.stdout).toMatch(/^device north is in .*again again, as it was at/);
  expect(restored.stdout).toContain("Do not run it while the device that it was saved from runs");
  expect(restored.stdout).toContain(`data file ${rows} does not exist here`);
  expect(readFileSync(at("again", "key"))).toEqual(readFileSync(at("north", "key")));
});

test("device study: shows, proposes, withdraws and finishes a change in the folder of a device that does not run", async () => {
  writeFileSync(at("north.csv"), "x1,x2\n1,1\n2,2\n3,3\n");
  writeFileSync(at("study.yaml"), studyText);
  writeFileSync(at("new.yaml"), studyText.replace("alpha: 1", "alpha: 2"));
  writeFileSync(at("wide.yaml"), studyText.replace("name: x2", "name: x9"));
  await device("init", "--study", at("study.yaml"), "--data", at("north.csv"), "--state", at("north"));
  const study = (...args: string[]) => device("study", ...args, "--state", at("north"));
  expect((await study("withdraw")).stderr).toMatch(/north must be in a change of study, got none/);
  expect((await study("propose", at("study.yaml"))).stderr).toMatch(
    /must be another one than that of north, got the same/,
  );
  expect((await study("propose", at("wide.yaml"))).stderr).toMatch(/column "x9" must exist/);
  expect((await study("accept", "0123")).stderr).toMatch(/must be one that is proposed \(none is\), got "0123"/);
  expect((await study("propose", at("new.yaml"))).stdout).toMatch(/^north accepts .*\n {2}alpha: 1 now, 2 then\n/);
  expect((await study()).stdout).toMatch(/^study: .*\nchanging to: .*\n {2}alpha: 1 now, 2 then\n/);
  expect((await study("withdraw")).stdout).toMatch(/^north stays with /);
  expect((await study()).stdout).not.toContain("changing");
  await study("propose", at("new.yaml"));
  expect((await study("finish")).stdout).toMatch(/^north uses only .* when it is run; neighbours that have not/);
  expect(readFileSync(at("north", "study.yaml"), "utf8")).toContain("alpha: 2");
});
