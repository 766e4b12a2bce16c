// fedkm audit: a table and a page that say what neighbours learn, of simulated networks and of a recorded device.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { complete, paperData } from "@fedkm/core";
import { contractOf, formatStudy, pointsAsCsv, simulate, studyId, studyOfPoints } from "@fedkm/device";
import { createFolder } from "@fedkm/device/daemon";
import { expect, test } from "vitest";
import { outcome, temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();

test("fedkm audit prints a row for each attack, a verdict, and what remains possible, and writes a page", async () => {
  const page = join(folder.path, "audit.html");
  const { code, stdout, stderr } = await outcome("audit", "--privacy", "open", "--runs", "1", "--out", page);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain('Privacy "open" of study an example, minimum 10: 1 simulated network with rows');
  expect(stdout).toMatch(/the only neighbour reads +1 +1 +0 +cluster means, to the last digit, and sizes\n/);
  expect(stdout).toMatch(/neighbours wait for a new row +1 +- +1 +one row, to the last digit\n/);
  expect(stdout).toMatch(/Verdict: Single rows can be found: \d+ here, by \d of 14 attacks\. Use "open" only for/);
  expect(stdout).toContain("What remains possible:\n- ");
  const html = readFileSync(page, "utf8");
  expect(html).toContain("<h1>Privacy audit: an example</h1>");
  expect(html).toContain("one row, to the last digit");
});

/** A device in a folder, and a recording of it that a simulation made. */
async function recordedDevice() {
  const { datasets } = paperData("iso", 3, 70, 5);
  const study = studyOfPoints(datasets, ["x1", "x2"], { name: "planes", minimum: 10 });
  const contract = await contractOf(study);
  const data = folder.file("rows.csv", pointsAsCsv(study, datasets[0]));
  const path = join(folder.path, "north");
  const settings = { name: "north", data: [data], listen: [], announce: [] };
  const { identity } = await createFolder(path, formatStudy(study), settings);
  const header = { recording: "fedkm", version: 1, peer: identity.peer, study: studyId(contract), clock: 0 };
  const lines = [{ ...header, startedAt: new Date(0).toISOString() } as object];
  const network = simulate({
    study,
    contract,
    datasets,
    graph: complete(3),
    seed: 1,
    record: (i, { frame, ...event }) => {
      if (i === 0) lines.push({ ...event, frame: Buffer.from(frame).toString("base64") });
    },
  });
  network.run(2_000);
  const record = folder.file("north.jsonl", `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
  return { path, record };
}

test("fedkm audit of a recording says what the neighbours of a recorded device could compute of its rows", async () => {
  const { path, record } = await recordedDevice();
  const { code, stdout, stderr } = await outcome("audit", record, "--state", path, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const answer = JSON.parse(stdout);
  expect(answer).toMatchObject({ study: "planes", privacy: "open", minimum: 10 });
  expect(answer.source).toMatch(/^a recording of north: \d+ frames to 2 neighbours$/);
  const of = (attack: string) => answer.attacks.find((one: { attack: string }) => one.attack === attack);
  expect(of("coalition")).toMatchObject({ tried: 1, groups: 1 });
  expect(of("bystander").tried).toBe(2);
  const other = join(folder.path, "other.jsonl");
  writeFileSync(other, readFileSync(record, "utf8").replace(/"peer":"12D3\w+"/, '"peer":"somebody"'));
  const refused = await outcome("audit", other, "--state", path);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/must be of 12D3\w+, got one of somebody/) });
});

test("fedkm audit refuses what cannot be meant", async () => {
  for (const [args, message] of [
    [["a.jsonl"], "a recording and --state must be given together, got one of them"],
    [["--data", "a.csv"], "--data needs --study, which names the columns and their bounds"],
    [["--privacy", "closed"], '--privacy must be one of open, guarded, private, got "closed"'],
  ] as const) {
    expect(await outcome("audit", ...args)).toEqual({ code: 2, stdout: "", stderr: `fedkm: ${message}\n` });
  }
});
