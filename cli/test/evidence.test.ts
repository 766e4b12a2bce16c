// The data officer's folder of a device that has been through a whole open study: it names everything that went over the wire, hides what
// the study hides, keeps the rules of RO-Crate, and one changed byte anywhere is found.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { normalStream, randomStream } from "@fedkm/core";
import { realClock } from "@fedkm/device";
import { type Daemon, lastStatus, readAudit, readFolder, startDaemon } from "@fedkm/device/daemon";
import { parseRecording } from "@fedkm/device/inspect";
import { readZip } from "@fedkm/files";
import { afterAll, expect, test, vi } from "vitest";
import { departuresIn } from "../../audit/src/evidence.ts";
import { CRATE_FILE, crateFault } from "../../audit/src/evidenceBag.ts";
import { assessedThreats } from "../../audit/src/impactAssessment.ts";
import { frameKindName, frameStudyHash, studyId } from "../../device/src/wire/frames.ts";
import { runCommandLine } from "../src/program.ts";
import { fakeConsole } from "./fakeConsole.ts";
import { temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
const at = (name: string) => join(folder.path, name);
const names = ["north", "middle", "south"];
const daemons = new Map<string, Daemon>();
afterAll(async () => {
  for (const daemon of daemons.values()) await daemon.stop();
});

async function fedkm(...args: string[]) {
  const console = fakeConsole();
  return { code: await runCommandLine(args, console), ...console.said() };
}

const host = {
  version: "1",
  pid: 7,
  env: process.env,
  memoryBytes: () => 0,
  cpuMicroseconds: () => 0,
  logFailure: () => undefined,
  linesLost: () => 0,
};
const log = { info: () => {}, warn: () => {} };
// So that nobody waits: five of its seconds pass in one.
const clock = {
  now: () => 5 * realClock.now(),
  after: (milliseconds: number, run: () => void) => realClock.after(milliseconds / 5, run),
};

async function start(name: string): Promise<void> {
  const daemon = await startDaemon({ folder: at(name), log, host, clock, record: at(`${name}.jsonl`) });
  daemons.set(name, daemon);
  void daemon.restart.then(async () => {
    await daemon.stop();
    await start(name);
  });
}

/** Numbers with so many digits that they are found if they stand anywhere. */
function table(seed: number): string {
  const random = randomStream(seed, "evidence");
  const normal = normalStream(random);
  const rows = Array.from({ length: 80 }, () => {
    const isOld = random() < 0.5;
    return `${((isOld ? 75 : 30) + 5 * normal()).toFixed(6)},${((isOld ? 60 : 10) + 4 * normal()).toFixed(6)}`;
  });
  return `${["age,crp", ...rows].join("\n")}\n`;
}

const valuesOf = (text: string) => text.split(/[\n,]/).filter((cell) => /\.\d{6}/.test(cell));

test("evidence of a whole open study", async () => {
  const study = at("study.yaml");
  await fedkm("study", "init", "--k", "2", "--columns", "age,crp", "--clusters", "shared", "--out", study);
  const invites = new Map<string, string>();
  for (const [i, name] of names.entries()) {
    folder.file(`${name}.csv`, table(i + 1));
    const listen = `/ip4/127.0.0.1/tcp/${42_300 + i}`;
    const made = await fedkm(
      ...["device", "init", "--study", study, "--data", at(`${name}.csv`), "--listen", listen, "--state", at(name)],
      ...(i === 0 ? ["--min-rows", "12", "--never", "name", "--consent", "describe,fit"] : []),
    );
    expect(made.stderr).toBe("");
    invites.set(name, /fedkm:\S+/.exec(made.stdout)?.[0] ?? "");
  }
  for (const name of names)
    for (const other of names.filter((own) => own !== name))
      await fedkm("device", "link", invites.get(other) ?? "", "--name", other, "--state", at(name));
  for (const name of names) await start(name);
  const described = (name: string) => daemons.get(name)?.status().device.shared?.described?.studyHash;
  await vi.waitFor(
    () => {
      for (const name of names) expect(described(name)).toBeTruthy();
    },
    { timeout: 60_000, interval: 100 },
  );
  const open = daemons.get("north")?.status().studyHash ?? "";
  const closed = described("north") ?? "";
  await vi.waitFor(
    () => {
      for (const name of names) expect(lastStatus(at(name))?.device.shared?.described?.studyHash).toBe(closed);
    },
    { timeout: 20_000 },
  );
  for (const name of names)
    expect((await fedkm("device", "study", "accept", closed, "--state", at(name))).code).toBe(0);
  await vi.waitFor(
    () => {
      for (const name of names)
        expect(daemons.get(name)?.status()).toMatchObject({ studyHash: closed, device: { phase: "settled" } });
    },
    { timeout: 120_000, interval: 200 },
  );
  for (const [name, daemon] of daemons) {
    daemons.delete(name);
    await daemon.stop();
  }

  // Everything that went over the wire is named, with its receiver, study and kind.
  const departures = departuresIn((await readAudit(at("north"))).lines);
  const named = new Map(departures.sent.map((one) => [`${one.study} ${one.what} ${one.peer}`, one]));
  const seen = new Map<string, { frames: number; bytes: number }>();
  for (const { events } of parseRecording(readFileSync(at("north.jsonl"), "utf8")))
    for (const { peer, frame } of events.filter(({ kind }) => kind === "sent")) {
      const key = `${studyId({ hash: frameStudyHash(frame) })} ${frameKindName(frame)} ${peer}`;
      const before = seen.get(key) ?? { frames: 0, bytes: 0 };
      seen.set(key, { frames: before.frames + 1, bytes: before.bytes + frame.length });
    }
  expect(seen.size).toBeGreaterThan(4);
  for (const [key, { frames, bytes }] of seen)
    expect(named.get(key), key).toMatchObject({ times: frames, size: bytes });
  expect(named.size).toBe(seen.size);
  const stages = departures.added.map(({ study: of, what }) => `${of === open ? "open" : "closed"} ${what}`);
  expect(stages).toEqual(expect.arrayContaining(["open describe", "open described", "closed rows"]));

  const zip = at("evidence.zip");
  const written = await fedkm("device", "evidence", "--state", at("north"), "--out", zip);
  expect(written).toMatchObject({ code: 0, stderr: "" });
  const checked = await fedkm("verify", zip);
  expect(checked.stderr).toBe("");
  expect(checked.stdout).toContain("is verified");
  const { identity } = await readFolder(at("north"));
  expect(checked.stdout).toContain(identity.peer);

  const files = await readZip(zip);
  const text = (name: string) => new TextDecoder().decode(files.get(`evidence/data/${name}`));
  expect([...files.keys()].every((name) => name.startsWith("evidence/"))).toBe(true);
  expect(text("workflow/study.yaml")).toContain(`answers: ${open}`);
  expect(text(`studies/${open}.yaml`)).toContain("bounds: network");
  expect(JSON.parse(text("attacks.json"))).toMatchObject({ rowsFound: 0 });
  expect(JSON.parse(text("versions.json"))).toMatchObject({ study: closed, limits: { minRows: 12, never: ["name"] } });
  for (const [who, what, measure] of assessedThreats)
    for (const part of [who, what, measure]) expect(text("impact-assessment.md")).toContain(part);

  // Neither rows nor keys, nor how many rows there are.
  const all = [...files.values()].map((bytes) => new TextDecoder().decode(bytes)).join("\n");
  for (const value of valuesOf(readFileSync(at("north.csv"), "utf8"))) expect(all).not.toContain(value);
  const key = readFileSync(at("north/key"));
  for (const encoding of ["hex", "base64", "utf8"] as const) expect(all).not.toContain(key.toString(encoding).trim());
  expect(all).not.toMatch(/"rows\\?":80/);
  expect(readFileSync(at("north/audit.jsonl"), "utf8")).toMatch(/"rows":80/);

  // One changed byte anywhere.
  const bytes = readFileSync(zip);
  mkdirSync(at("changed"));
  const changed = at("changed/evidence.zip");
  const random = randomStream(5, "bytes");
  const places = [
    0,
    10,
    12,
    29,
    bytes.length - 1,
    bytes.length - 5,
    ...Array.from({ length: 60 }, () => Math.floor(random() * bytes.length)),
  ];
  for (const place of places) {
    const other = Buffer.from(bytes);
    other[place] ^= 1 << (place % 8);
    writeFileSync(changed, other);
    expect((await fedkm("verify", changed)).code, `byte ${place}`).not.toBe(0);
  }

  // The rules of RO-Crate, each broken once.
  const payload = new Map(
    [...files].flatMap(([name, own]) =>
      name.startsWith("evidence/data/") ? [[name.slice(14), new TextDecoder().decode(own)] as const] : [],
    ),
  );
  const info = new TextDecoder().decode(files.get("evidence/bag-info.txt"));
  expect(crateFault(payload, info)).toBeUndefined();
  const without = (change: (graph: Record<string, unknown>[]) => unknown) => {
    const crate = JSON.parse(payload.get(CRATE_FILE) ?? "");
    change(crate["@graph"]);
    return crateFault(new Map([...payload, [CRATE_FILE, JSON.stringify(crate)]]), info);
  };
  const entity = (graph: Record<string, unknown>[], id: string) => graph.find((own) => own["@id"] === id) ?? {};
  expect(without((graph) => delete entity(graph, "./").license)).toMatch(/license/);
  expect(without((graph) => delete entity(graph, "./").conformsTo)).toMatch(/Five Safes/);
  expect(without((graph) => delete entity(graph, "./").sourceOrganization)).toMatch(/project/);
  expect(without((graph) => graph.push({ ...entity(graph, "#run") }))).toMatch(/@id of its own/);
  expect(without((graph) => Object.assign(entity(graph, "#run"), { agent: { "@id": "#nobody" } }))).toMatch(/person/);
  expect(without((graph) => Object.assign(entity(graph, "./"), { hasPart: [] }))).toMatch(/part of the root/);
  expect(crateFault(new Map([...payload, ["more.txt", ""]]), info)).toMatch(/part of the root/);
  expect(crateFault(payload, "")).toMatch(/External-Identifier/);
}, 300_000);

test("the threats of the annex are those of docs/threats.md", () => {
  const page = readFileSync(new URL("../../docs/threats.md", import.meta.url), "utf8");
  const rows = page.split("\n").map((line) => line.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/\s+/g, " "));
  for (const [who, what, measure] of assessedThreats)
    expect(
      rows.some((row) => row.startsWith(`| ${who} | ${what} | ${measure} |`)),
      who,
    ).toBe(true);
});
