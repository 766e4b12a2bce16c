// Trees into which an error is planted, and whether a test notices it there.

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** One error: in this file this text, which stands there once, is replaced; these tests should notice. */
export interface Plant {
  readonly file: string;
  readonly text: string;
  readonly replacement: string;
  readonly tests: readonly string[];
}

/** `hung`: stopped after many times what the tests take without the error. */
export type Outcome =
  | { readonly kind: "noticed" | "hung"; readonly by: string }
  | { readonly kind: "survived" | "misplaced" };

interface TestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** So long that a busy machine is not taken for one that hangs. */
const FEWEST_SECONDS = 900;
const TIMES_AS_LONG = 10;

/** A copy of the work tree. Packages of others are hard links: nothing writes to them. */
export class PlantingTree {
  readonly #root: string;
  readonly #folder: string;

  constructor(root: string, folder: string) {
    this.#root = root;
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
    for (const entry of readdirSync(root)) {
      if (entry === ".git") continue;
      const { status, stderr } = spawnSync("cp", [entry === "node_modules" ? "-al" : "-a", join(root, entry), folder]);
      if (status !== 0) throw new Error(`the tree must be copied, got ${stderr}`);
    }
    // Times of earlier runs, which vitest writes in place.
    rmSync(join(folder, "node_modules/.vite"), { recursive: true, force: true });
  }

  /** Seconds that these tests take as the tree is; undefined: they fail. */
  async seconds(tests: readonly string[]): Promise<number | undefined> {
    const begun = performance.now();
    const { code } = await this.#run(tests, 1800);
    return code === 0 ? (performance.now() - begun) / 1000 : undefined;
  }

  async plant({ file, text, replacement, tests }: Plant, usualSeconds: number): Promise<Outcome> {
    const source = readFileSync(join(this.#root, file), "utf8");
    const at = source.indexOf(text);
    if (at < 0 || source.indexOf(text, at + 1) >= 0) return { kind: "misplaced" };
    const planted = join(this.#folder, file);
    try {
      writeFileSync(planted, source.slice(0, at) + replacement + source.slice(at + text.length));
      const { code, by } = await this.#run(tests, Math.max(FEWEST_SECONDS, TIMES_AS_LONG * usualSeconds));
      if (code === undefined) return { kind: "hung", by: "" };
      return code === 0 ? { kind: "survived" } : { kind: "noticed", by };
    } finally {
      writeFileSync(planted, source);
    }
  }

  /** Exit code and the first test that failed. No code: it was stopped. */
  async #run(tests: readonly string[], mostSeconds: number): Promise<{ code: number | undefined; by: string }> {
    const report = join(this.#folder, "planted.json");
    rmSync(report, { force: true });
    const options = ["--bail", "1", "--maxWorkers", "1", "--reporter", "json", "--outputFile", report];
    // A group of its own, so that whatever the tests start ends with them.
    const child = spawn(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...options, ...tests], {
      cwd: this.#folder,
      stdio: "ignore",
      detached: true,
    });
    const end = () => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended by itself.
      }
    };
    process.once("exit", end);
    const ended = new Promise<number | undefined>((resolve) =>
      child.once("exit", (code) => resolve(code ?? undefined)),
    );
    const timer = setTimeout(end, 1000 * mostSeconds);
    const code = await ended;
    clearTimeout(timer);
    process.removeListener("exit", end);
    end();
    return { code, by: code === 0 || code === undefined ? "" : firstFailure(report, this.#folder) };
  }
}

function firstFailure(report: string, folder: string): string {
  try {
    const { testResults }: TestReport = JSON.parse(readFileSync(report, "utf8"));
    for (const { name, message, assertionResults } of testResults) {
      const failed = assertionResults.find(({ status }) => status === "failed");
      const file = name.replace(`${folder}/`, "");
      if (failed !== undefined) return `${file}: ${failed.fullName}`;
      if (message !== "") return `${file}: ${message.split("\n")[0]}`;
    }
  } catch {
    // It ended before it could report.
  }
  return "the run did not finish";
}
