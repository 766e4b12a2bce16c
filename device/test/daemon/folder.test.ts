// Every file of a state folder that is damaged or missing is named, in one line that says what to do.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { complete } from "@fedkm/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createFolder, readFolder } from "../../src/daemon/folder.ts";
import { prepareLocalNetwork } from "../../src/daemon/localNetwork.ts";
import { studyText } from "../problem.ts";

let folder = "";
const at = (name: string) => join(folder, "north", name);
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-folder-"));
  const settings = { name: "north", data: ["rows.csv"], listen: ["/ip4/127.0.0.1/tcp/0"], announce: [] };
  await createFolder(join(folder, "north"), studyText, settings);
});
afterEach(() => rmSync(folder, { recursive: true }));

const refusal = () =>
  readFolder(join(folder, "north")).then(
    () => "read",
    (error: Error) => error.message,
  );

test.each([
  ["device.json", ["", "{", "null", "[]", '{"name":"north"}', '{"name":"north","data":[7],"listen":[],"announce":[]}']],
  ["device.json", ['{"name":"no/rth","data":[],"listen":[],"announce":[]}']],
  ["device.json", ['{"name":"north","data":[],"listen":[],"announce":[],"relay":true}']],
  ["study.yaml", ["", "k: [", "name: 7"]],
  ["links.json", ["", "[", "{}", '[{"name":"south"}]']],
  ["key", ["", "no key"]],
])("readFolder names %s when it is damaged", async (name, contents) => {
  expect(await refusal()).toBe("read");
  for (const content of contents) {
    writeFileSync(at(name), content);
    const line = await refusal();
    expect(line, content).toMatch(/ must .*(restore it|copy it)/);
    expect(line.startsWith(`${at(name)} must`), line).toBe(true);
    expect(line.split("\n")).toHaveLength(1);
  }
});

test.each(["study.yaml", "links.json", "key"])("readFolder names %s when it is missing", async (name) => {
  rmSync(at(name));
  expect(await refusal()).toMatch(/(restore it|copy it).*(: it is missing|got ENOENT.*)$/);
  expect(await refusal()).toContain(`${at(name)} must`);
});

test("readFolder never throws but with the name of device.json, whichever byte of it is damaged", async () => {
  const whole = readFileSync(at("device.json"));
  for (let byte = 0; byte < whole.length; byte++) {
    writeFileSync(
      at("device.json"),
      whole.map((value, i) => (i === byte ? value ^ 0x80 : value)),
    );
    const line = await refusal();
    if (line !== "read") expect(line.startsWith(`${at("device.json")} must`), line).toBe(true);
  }
});

test("a network on one machine with a private shared study is founded by its devices, and the same again in the next run", async () => {
  const base = join(folder, "network");
  const text = "name: p\nk: 2\nclusters: shared\nprivacy: private\ntypicalRows: 50\ndevices: 3\n";
  const studyText = `${text}features: [{ name: x, unit: "", min: 0, max: 1 }]\n`;
  const data = [1, 2, 3].map((n) => ({ path: join(base, `${n}.csv`), text: "x\n0.5\n" }));
  const plan = { base, studyText, data, graph: complete(3) };
  const paths = await prepareLocalNetwork(plan);
  const made = await Promise.all(paths.map(readFolder));
  const keys = made.map(({ identity }) => identity.peer).sort();
  for (const { study } of made) expect(study).toMatchObject({ founders: keys, vouchers: 2 });
  expect(await prepareLocalNetwork(plan)).toEqual(paths);
  const settings = { name: "alone", data: [], listen: [], announce: [] };
  await expect(createFolder(join(folder, "alone"), studyText, settings)).rejects.toThrow(/^founders must be named/);
});
