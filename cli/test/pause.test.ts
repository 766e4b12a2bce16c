// fedkm device pause and resume, in a folder without a process; cli/test/dashboard/page.test.ts has them with one.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { readAudit } from "@fedkm/device/daemon";
import { expect, test } from "vitest";
import { outcome, temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();

test("device pause and resume say what happens, leave a file or take it away, and are in the audit log", async () => {
  const rows = folder.file("rows.csv", "x\n1\n2\n3\n");
  const text =
    "name: pause\nk: 2\nfeatures:\n  - { name: x, unit: m, min: 0, max: 30 }\nalpha: 1\nprivacy: open\nminimum: 1\n";
  const [study, state] = [folder.file("study.yaml", text), join(folder.path, "north")];
  await outcome("device", "init", "--study", study, "--data", rows, "--state", state);
  const isPaused = () => existsSync(join(state, "paused"));
  for (const _ of ["once", "and again"]) {
    const paused = await outcome("device", "pause", "--state", state);
    expect(paused).toEqual({ code: 0, stdout: "north is paused when it is run\n", stderr: "" });
    expect(isPaused()).toBe(true);
  }
  const resumed = await outcome("device", "resume", "--state", state);
  expect(resumed).toEqual({ code: 0, stdout: "north goes on when it is run\n", stderr: "" });
  expect(isPaused()).toBe(false);
  const { lines } = await readAudit(state);
  expect(lines.map(({ event }) => event)).toEqual(["paused", "paused", "resumed"]);
  expect((await outcome("device", "pause", "--state", join(folder.path, "nobody"))).code).toBe(1);
});
