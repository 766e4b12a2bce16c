// The fedkm command as processes: what it prints, the CPU time it takes, the pages it serves, and a browser to look at them.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { progress } from "./measure.ts";

export const fedkmProgram = fileURLToPath(new URL("../../cli/bin/fedkm.js", import.meta.url));

/** What it prints in a folder, and the CPU time of it and its threads, as the shell has it. */
export function runFedkm(folder: string, ...args: string[]): { readonly seconds: number; readonly stdout: string } {
  progress(`fedkm ${args[0]}`);
  const { status, stdout } = spawnSync("sh", ["-c", '"$@"; times', "sh", process.execPath, fedkmProgram, ...args], {
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

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];

/** Throws where there is no Chromium. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = ["chromium", "google-chrome"]
    .map((name) => spawnSync("which", [name], { encoding: "utf8" }).stdout.trim())
    .find((path) => path !== "");
  if (executablePath === undefined) throw new Error("pages need Chromium on the PATH (apt-get install chromium)");
  const { chromium } = await import("playwright-core");
  return chromium.launch({ executablePath, headless: true, args: FLAGS });
}

export interface Served {
  readonly address: string;
  stop(): Promise<void>;
}

/** What a command says, which must succeed. */
export function fedkm(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [fedkmProgram, ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(`fedkm ${args.join(" ")} must succeed, got ${stderr}`);
  return stdout;
}

/** A command that goes on until it is stopped. */
export function running(...args: string[]) {
  const child = spawn(process.execPath, [fedkmProgram, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const stop = async () => {
    const ended = once(child, "exit");
    child.kill("SIGINT");
    await ended;
  };
  return { child, stop };
}

/** A command that serves a page, with the address that it prints. */
export async function serving(...args: string[]): Promise<Served> {
  const { child, stop } = running(...args);
  const address = await new Promise<string>((resolve, reject) => {
    for (const output of [child.stdout, child.stderr]) {
      output.on("data", (text) => {
        const found = String(text).match(/http:\S+/)?.[0];
        if (found !== undefined) resolve(found);
      });
    }
    child.once("exit", (code) => reject(new Error(`fedkm ${args[0]} must serve a page, got exit code ${code}`)));
  });
  return { address, stop };
}
