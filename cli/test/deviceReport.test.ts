// fedkm device report: a device's own report by its network's clusters, each figure as its labelled file says it.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { normalStream, randomStream } from "@fedkm/core";
import { expect, test } from "vitest";
import { outcome, temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
const study = `name: clinics
k: 2
clusters: shared
privacy: open
validate: 4
missing: mean
features:
  - { name: age, unit: "", bounds: network, scale: network }
  - { name: crp, unit: "", bounds: network, scale: network }
  - { name: sex, levels: network }
`;

/** Cells of a site: two clusters, some gaps, a category and a column that is in no study. */
function site(number: number, rows: number): string {
  const random = randomStream(number, "site");
  const normal = normalStream(random);
  const lines = Array.from({ length: rows }, (_, r) => {
    const isOld = random() < 0.5;
    const age = r % 13 === 4 ? "" : ((isOld ? 70 : 30) + 3 * normal()).toFixed(1);
    const crp = ((isOld ? 90 : 10) + 5 * normal()).toFixed(1);
    const sex = r % 17 === 5 ? "" : random() < 0.5 ? "f" : "m";
    return `${age},${crp},${sex},note ${r}`;
  });
  return folder.file(`site${number}.csv`, `age,crp,sex,note\n${lines.join("\n")}\n`);
}

test("the report of a device has the figures of its labelled file, beside those of the sums over all devices", async () => {
  const data = [site(1, 60), site(2, 90), site(3, 45)];
  const state = join(folder.path, "net");
  const network = ["--study", folder.file("study.yaml", study), "--data", ...data, "--graph", "ring"];
  expect(await outcome("up", ...network, "--state", state, "--until-settled")).toMatchObject({ code: 0 });

  const out = join(folder.path, "report");
  const { code, stdout } = await outcome("device", "report", "--state", join(state, "device-1"), "--out", out);
  expect(code).toBe(0);

  const [header, ...lines] = readFileSync(join(out, "labels/site1.csv"), "utf8").trimEnd().split("\n");
  const columns = header.split(",");
  const cells = lines.map((line) => line.split(","));
  expect(columns.slice(0, 4)).toEqual(["age", "crp", "sex", "note"]);
  const labelOf = (row: readonly string[]) => Number(row[columns.indexOf("cluster")]);
  const { clusters, devices } = JSON.parse(readFileSync(join(out, "model.json"), "utf8"));
  expect(devices.length).toBe(1);
  const sizes: number[] = [];
  for (const [c, cluster] of clusters.entries()) {
    const own = cells.filter((row) => labelOf(row) === c);
    sizes.push(own.length);
    expect(cluster.rows).toBe(own.length);
    // Of age some cells are empty; there the mean of all devices stands, which no single file knows.
    expect(cluster.mean[1]).toBeCloseTo(own.reduce((sum, row) => sum + Number(row[1]), 0) / own.length, 6);
  }
  expect(stdout).toContain('devices of study "clinics", k = 2, shared clusters');

  const page = readFileSync(join(out, "report.html"), "utf8");
  expect(page.includes("This device beside its network")).toBe(true);
  const status = JSON.parse(readFileSync(join(state, "device-1", "status.json"), "utf8"));
  const { all, own } = status.device.shared.validation;
  expect([own.rows, own.sizes, all.rows]).toEqual([60, sizes, 60 + 90 + 45]);
  expect(page.includes(">195<")).toBe(true);
});

test("a device without clusters, and a folder without a device, are refused in one line and nothing is written", async () => {
  const out = join(folder.path, "none");
  const { code, stderr } = await outcome("device", "report", "--state", join(folder.path, "nobody"), "--out", out);
  expect(code).not.toBe(0);
  expect(stderr.trimEnd().split("\n").length).toBe(1);
  expect(existsSync(out)).toBe(false);
});
