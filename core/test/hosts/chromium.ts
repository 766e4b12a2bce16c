// Finds a Chromium to test with, or installs Debian's where that is allowed.

import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

// Nothing that calls home, draws or asks: tests need the engine only. Playwright makes a fresh profile and deletes it.
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

function onPath(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The program's path. Where there is none, root gets Debian's package; anybody else is told what to install. */
function findChromium(): string {
  const found = onPath();
  if (found !== undefined) return found;
  if (process.getuid?.() === 0) {
    console.log("no chromium on the PATH: installing Debian's with apt-get");
    aptGet("update");
    aptGet("install", "--yes", "--no-install-recommends", "chromium");
  }
  const installed = onPath();
  if (installed === undefined) throw new Error("this test needs Chromium on the PATH: install the package chromium");
  return installed;
}

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: findChromium(), headless: true, args: FLAGS });
}

function aptGet(...words: string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  spawnSync("apt-get", ["-q", ...words], { env, stdio: "ignore" });
}
