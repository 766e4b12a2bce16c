// A log that cannot be written: on a full disk, to a reader that is gone or that does not read. The device goes on.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { logOutput } from "@fedkm/device/daemon";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../test/eventually.ts";
import { outcome } from "./folder.ts";

const program = fileURLToPath(new URL("../bin/fedkm.js", import.meta.url));

let folder = "";
const children: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-logs-"));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

test("logOutput counts the lines that are lost, says why, and knows when lines are written again", () => {
  let error: Error | undefined;
  let written = "";
  const output = {
    writableLength: 0,
    write(text: string, done?: (error?: Error | null) => void) {
      if (error === undefined) written += text;
      done?.(error);
    },
  };
  const log = logOutput(output);
  log.write("one\n");
  expect([log.failure(), log.lost()]).toEqual([undefined, 0]);
  error = Object.assign(new Error("ENOSPC"), { errno: -28 });
  for (let n = 0; n < 3; n++) log.write("lost\n");
  expect([log.failure(), log.lost()]).toEqual(["no space left on device", 3]);
  error = undefined;
  log.write("two\n");
  expect([log.failure(), log.lost()]).toEqual([undefined, 3]);
  // Nothing more is kept for a reader that does not read.
  output.writableLength = 70_000;
  log.write("lost\n");
  expect([log.failure(), log.lost(), written]).toEqual(["nobody reads it", 4, "one\ntwo\n"]);
});

test.skipIf(!existsSync("/dev/full"))(
  "fedkm device run goes on with a full disk or nobody behind stderr, and after SIGHUP without a terminal",
  async () => {
    const [study, data] = [join(folder, "study.yaml"), join(folder, "rows.csv")];
    writeFileSync(data, `x\n${Array.from({ length: 40 }, (_, i) => `${i % 7}`).join("\n")}\n`);
    expect(await outcome("study", "init", "--k", "2", "--feature", "x:0:10", "--out", study)).toMatchObject({
      code: 0,
    });
    const statusOf = async (state: string) => {
      const { code, stdout } = await outcome("device", "status", "--json", "--state", state);
      return { code, status: JSON.parse(stdout || "{}") };
    };
    const states = ["full", "closed"].map((name) => join(folder, name));
    for (const state of states) await outcome("device", "init", "--study", study, "--data", data, "--state", state);
    const full = openSync("/dev/full", "w");
    for (const [index, stderr] of [full, "pipe" as const].entries()) {
      const args = [program, "device", "run", "--state", states[index], "--log", "debug"];
      children.push(spawn(process.execPath, args, { stdio: ["ignore", "ignore", stderr] }));
    }
    closeSync(full);
    children[1].stderr?.destroy();
    for (const [index, state] of states.entries()) {
      const child = children[index];
      const lost = async () => {
        const { code, status } = await statusOf(state);
        expect({ code, isRunning: status.isRunning }).toEqual({ code: 4, isRunning: true });
        expect(status.notices).toMatchObject([{ cause: "log", link: null, until: null }]);
        return status;
      };
      const before = await eventually(lost, folder);
      child.kill("SIGHUP");
      const touched = new Date();
      utimesSync(data, touched, touched);
      await eventually(async () => expect((await lost()).dataReadAt).not.toBe(before.dataReadAt), folder);
      expect(before.notices[0].text).toBe(
        `lines of the log are lost: ${["no space left on device", "broken pipe"][index]}`,
      );
      const exited = once(child, "exit");
      child.kill(index === 0 ? "SIGKILL" : "SIGTERM");
      expect(await exited).toEqual(index === 0 ? [null, "SIGKILL"] : [0, null]);
      // What it last wrote may say anything: nobody holds its lock.
      expect(await statusOf(state)).toMatchObject({ code: 3, status: { isRunning: false } });
    }
  },
);
