// Before all tests: a Chromium that is missing is installed where that is allowed. Anybody else is told what to install.

import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/** The program's path; undefined: there is none on the PATH. */
export function findChromium(): string | undefined {
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

export default function installChromium(): void {
  if (findChromium() === undefined && process.getuid?.() === 0) {
    console.log("There is no Chromium on the PATH: Debian's is installed with apt-get.");
    aptGet("update");
    aptGet("install", "--yes", "--no-install-recommends", "chromium");
  }
  if (findChromium() === undefined) {
    console.log("Tests in a browser are skipped: they need Chromium on the PATH (apt-get install chromium).");
  }
}

function aptGet(...words: string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  spawnSync("apt-get", ["-q", ...words], { env, stdio: "ignore" });
}
