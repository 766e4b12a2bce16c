// Ctrl-C while a command works: one line, the usual exit code, and everything as it was.

import { spawn, spawnSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { normalStream, randomStream } from "@fedkm/core";
import { beforeAll, expect, test } from "vitest";
import { interruptible } from "../src/stop.ts";
import { temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
const bin = fileURLToPath(new URL("../bin/fedkm.js", import.meta.url));
const CTRL_C = "\u0003";
const ERASED = "\u001b[K";

/** Part of util-linux, which every Linux has. */
const hasTerminal = spawnSync("script", ["--version"]).status === 0;
if (!hasTerminal) console.log("Ctrl-C is not tested: there is no script command that makes a terminal");

beforeAll(() => {
  const normal = normalStream(randomStream(1, "interrupt"));
  for (const name of ["a", "b"]) {
    const rows = Array.from({ length: 20_000 }, () => Array.from({ length: 12 }, () => normal().toFixed(4)).join());
    const header = Array.from({ length: 12 }, (_, c) => `x${c}`).join();
    writeFileSync(join(folder.path, `${name}.csv`), `${header}\n${rows.join("\n")}\n`);
  }
  const { status } = folder.spawn(
    "fit",
    "--as-is",
    "a.csv",
    "--k",
    "2",
    "--sample",
    "500",
    "--labels-as",
    "none",
    "--out",
    "model",
  );
  expect(status).toBe(0);
});

const quoted = (text: string) => `'${text}'`;

/** The command on a terminal, where Ctrl-C is typed as soon as it says a word; what it says last, without what it erased. */
function interrupted(word: string, args: readonly string[]) {
  return new Promise<{ code: number | null; last: string | undefined }>((resolve, reject) => {
    const command = [process.execPath, bin, ...args].map(quoted).join(" ");
    const terminal = spawn("script", ["-qec", command, "/dev/null"], { cwd: folder.path });
    let said = "";
    terminal.stdout.on("data", (piece) => {
      const isNew = !said.includes(word);
      said += piece;
      if (isNew && said.includes(word)) terminal.stdin.write(CTRL_C);
    });
    terminal.once("error", reject);
    terminal.once("close", (code) => resolve({ code, last: said.split(ERASED).at(-1)?.trim() }));
  });
}

const fit = ["fit", "--as-is", "a.csv", "b.csv", "--k", "40", "--tol", "0", "--out", "results"];
const short = ["fit", "--as-is", "a.csv", "b.csv", "--k", "4", "--rounds", "3", "--out", "results"];

// Before and after it watches a computation, Node takes our listeners away for a moment. Ctrl-C then ends the command at
// once, with the same code and nothing changed but without the line.
const MOMENTS_MISSED = 3;

test.skipIf(!hasTerminal).each([
  ["fit", "reading", fit],
  ["fit", "fedkm on 2 devices", fit],
  ["fit", "round ", fit],
  ["fit", "certifying", short],
  ["fit", "writing the results", short],
  ["fit", "labels", short],
  ["choose", "trying k", ["choose", "a.csv", "b.csv", "--out", "choice.svg"]],
])("fedkm %s, interrupted at %j, says that nothing was changed", { retry: MOMENTS_MISSED }, async (_, word, args) => {
  const before = readdirSync(folder.path).sort();
  expect(await interrupted(word, args)).toEqual({ code: 130, last: "fedkm: interrupted: nothing was changed" });
  expect(readdirSync(folder.path).sort()).toEqual(before);
});

test("interruptible(work) gives what the work gives, and throws what it throws", async () => {
  const { signal } = new AbortController();
  expect(await interruptible(() => 7, signal)).toBe(7);
  const error = new RangeError("of the work");
  const failing = () => {
    throw error;
  };
  await expect(interruptible(failing, signal)).rejects.toBe(error);
});
