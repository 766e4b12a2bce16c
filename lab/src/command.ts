// The fedkm command as a process of its own, and the CPU time that it and its threads took.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { progress } from "./measure.ts";

const program = fileURLToPath(new URL("../../cli/bin/fedkm.js", import.meta.url));

/** Run in a folder; the time is as the shell has it. */
export function runFedkm(folder: string, ...args: string[]): { readonly seconds: number; readonly stdout: string } {
  progress(`fedkm ${args[0]}`);
  const { status, stdout } = spawnSync("sh", ["-c", '"$@"; times', "sh", process.execPath, program, ...args], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 2 ** 28,
  });
  const lines = stdout.trimEnd().split("\n");
  if (status !== 0 || lines.length < 3) throw new Error(`fedkm ${args[0]} failed`);
  // The last two lines are the times of the shell and of what it ran, user and system each.
  const seconds = Array.from((lines.pop() ?? "").matchAll(/(\d+)m([\d.]+)s/g), ([, minutes, rest]) => {
    return 60 * Number(minutes) + Number(rest);
  }).reduce((sum, part) => sum + part, 0);
  lines.pop();
  return { seconds, stdout: lines.join("\n") };
}
