// The pages as their commands serve them, and a browser to look at them.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type Browser, chromium } from "playwright-core";

const program = fileURLToPath(new URL("../../cli/bin/fedkm.js", import.meta.url));
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];

/** Throws where there is no Chromium. */
export function launchChromium(): Promise<Browser> {
  const executablePath = ["chromium", "google-chrome"]
    .map((name) => spawnSync("which", [name], { encoding: "utf8" }).stdout.trim())
    .find((path) => path !== "");
  if (executablePath === undefined) throw new Error("pages need Chromium on the PATH (apt-get install chromium)");
  return chromium.launch({ executablePath, headless: true, args: FLAGS });
}

export interface Served {
  readonly address: string;
  stop(): Promise<void>;
}

/** What a command says, which must succeed. */
export function fedkm(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(`fedkm ${args.join(" ")} must succeed, got ${stderr}`);
  return stdout;
}

/** A command that goes on until it is stopped. */
export function running(...args: string[]) {
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe"] });
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
