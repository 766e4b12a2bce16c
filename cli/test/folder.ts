// A folder for one test file, with what it needs in it, gone afterwards.

import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { runCommandLine } from "../src/program.ts";
import { fakeConsole } from "./fakeConsole.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Folder {
  readonly path: string;
  file(name: string, content: string | Uint8Array): string;
  /** The example files, under examples/. */
  addExamples(): void;
  /** The built command in a process of its own, in this folder. */
  spawn(...args: string[]): { status: number | null; stdout: string; stderr: string };
}

export function temporaryFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), "fedkm-cli-"));
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  return {
    path,
    file(name, content) {
      writeFileSync(join(path, name), content);
      return join(path, name);
    },
    addExamples: () => cpSync(join(root, "examples"), join(path, "examples"), { recursive: true }),
    spawn(...args) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "cli/bin/fedkm.js"), ...args], {
        cwd: path,
        encoding: "utf8",
      });
      return { status, stdout, stderr };
    },
  };
}

/** One command line, in this process. */
export async function outcome(...args: string[]) {
  const console = fakeConsole();
  return { code: await runCommandLine(args, console), ...console.said() };
}
