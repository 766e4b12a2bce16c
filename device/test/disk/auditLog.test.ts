// The audit log: lines that follow each other, whatever is changed in between or was cut off by a crash.

import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { auditDaemonStatus, auditKeeper } from "../../src/daemon/auditKeeper.ts";
import { appendAudit, readAudit } from "../../src/disk/auditLog.ts";
import { northStatus } from "../daemon/northStatus.ts";
import { manualClock } from "../links/manualClock.ts";

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-audit-"));
  file = join(folder, "audit.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const linked = (name: string, date = "2026-11-16") =>
  ({ at: new Date(date), event: "linked", fields: { name } }) as const;
const append = (...names: string[]) =>
  appendAudit(
    folder,
    names.map((name) => linked(name)),
  );

test("appendAudit chains lines, also of several writers at once, and makes names printable", async () => {
  await Promise.all(["a", "b", "c", "d"].map((name) => append(name)));
  await append("e\u202e\n", "f");
  const { lines, broken, cut } = await readAudit(folder);
  expect(lines.map(({ name }) => name).sort()).toEqual(["a", "b", "c", "d", "e\\u{202e}\\u{a}", "f"]);
  expect([broken, cut]).toEqual([undefined, 0]);
  expect(lines[0].before).toBe("0".repeat(64));
});

test("readAudit names the first line after one that was changed, removed, put in or moved", async () => {
  await append("a", "b", "c", "d");
  const whole = readFileSync(file, "utf8").trimEnd().split("\n");
  const [a, b, c, d] = whole;
  for (const [lines, line] of [
    [[a, b.replace('"b"', '"x"'), c, d], 3],
    [[a, c, d], 2],
    [[b, c, d], 1],
    [[a, b, b, c, d], 3],
    [[a, c, b, d], 2],
    [[a, "", b, c, d], 3],
  ] as const) {
    writeFileSync(file, `${lines.join("\n")}\n`);
    expect((await readAudit(folder)).broken, String(line)).toEqual({ file: "audit.jsonl", line });
  }
});

test("a line that a crash cut off stays, and the chain goes on after it", async () => {
  await append("a", "b");
  truncateSync(file, readFileSync(file).length - 20);
  await append("c");
  const { lines, cut, broken } = await readAudit(folder);
  expect([lines.map(({ name }) => name), cut, broken]).toEqual([["a", "c"], 1, undefined]);
});

test("a log of an earlier year, or of more than 10 MB, is set aside, and the chain goes on", async () => {
  await appendAudit(folder, [linked("a", "2025-12-31")]);
  await append("b");
  writeFileSync(file, `${readFileSync(file, "utf8")}${`${" ".repeat(3_999)}\n`.repeat(2_501)}`);
  await append("c");
  expect(readdirSync(folder).sort()).toEqual(["audit-0001.jsonl", "audit-0002.jsonl", "audit.jsonl"]);
  // As after a crash between the two files.
  rmSync(file);
  await append("d");
  const { lines, broken } = await readAudit(folder);
  expect(lines.map(({ name }) => name)).toEqual(["a", "b", "d"]);
  expect(broken).toBeUndefined();
});

test("auditKeeper says what cannot be written, and writes it when it can be again", async () => {
  const clock = manualClock();
  const said: (string | undefined)[] = [];
  const missing = join(folder, "missing");
  const audit = auditKeeper(missing, clock, (line) => said.push(line));
  audit.note("reset", {});
  await audit.close();
  expect(said[0]).toMatch(/^the audit log is not written, 1 events wait: ENOENT/);
  const again = auditKeeper(folder, clock, (line) => said.push(line));
  again.note("reset", {});
  again.note("started", {});
  await again.close();
  expect((await readAudit(folder)).lines.map(({ event }) => event)).toEqual(["reset", "started"]);
  expect(said.at(-1)).toBeUndefined();
});

test("auditKeeper says that a line was changed, also after it has written others", async () => {
  await append("a", "b", "c");
  writeFileSync(file, readFileSync(file, "utf8").replace('"b"', '"x"'));
  const said: (string | undefined)[] = [];
  const audit = auditKeeper(folder, manualClock(), (line) => said.push(line));
  await expect.poll(() => said.at(-1)).toMatch(/^audit\.jsonl was changed before its line 3: see fedkm device log/);
  audit.note("started", {});
  await audit.close();
  expect(said.at(-1)).toMatch(/was changed/);
});

test("auditLooks notes the first refusal of each kind, counts once an hour, few strangers, and each release once", () => {
  const clock = manualClock();
  const noted: string[] = [];
  const note = (event: string, fields: object) => noted.push(`${event} ${Object.values(fields).join(" ")}`);
  const look = auditDaemonStatus({ note }, clock);
  const [link] = northStatus.links;
  const withOrder = (order: number) => ({ ...northStatus, links: [{ ...link, framesRefused: { order } }] });
  look(withOrder(2));
  look(withOrder(7));
  clock.advance(3_600_000);
  look(withOrder(9));
  expect(noted.filter((line) => line.startsWith("refused"))).toEqual([
    `refused ${link.name} order 2`,
    `refused ${link.name} order 7`,
  ]);
  expect(noted.filter((line) => line.startsWith("released"))).toHaveLength(1);
  const device = { ...northStatus.device, framesSent: northStatus.device.framesSent + 1 };
  const read = { ...withOrder(9), dataReadAt: "2027-01-01T00:00:00.000Z" };
  look(read);
  look({ ...read, device });
  look({ ...read, device });
  expect(noted.filter((line) => line.startsWith("released"))).toHaveLength(2);
  for (let n = 0; n < 1000; n++) {
    const stranger = { peer: `p${n}`, address: "", attempts: 1, firstSeen: "", lastSeen: "" };
    look({ ...read, device, pending: [stranger] });
  }
  expect(noted.filter((line) => line.includes("stranger")).length).toBeLessThan(50);
});
