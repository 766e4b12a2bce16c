// How sure clusters are, by the time it is asked: of large data in a process of its own, while labels are written.
//
// A process and not a thread: Node 20 can abort as a whole when a thread ends while its code is being compiled.

import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { type Asked, type AskedOptions, refitOf } from "../../../../tables/src/fit/method.ts";
import { type Looked, type Sureness, surenessOf } from "../../../../tables/src/fit/stability.ts";
import type { PluginOptions } from "../../plugins.ts";
import { interruptible } from "../../stop.ts";
import type { ThreadsOptions } from "../../threads.ts";
import type { Span, Watched } from "./coreTime.ts";

/** What the process is sent. */
export interface SureTask {
  readonly looked: Looked;
  readonly options: AskedOptions & PluginOptions;
}

/** What it answers, and when it computed. */
export interface SureAnswer {
  readonly sure: Sureness;
  readonly span: Span;
}

/** With fewer rows there is nothing to do meanwhile. */
const WORTHWHILE_ROWS = 100_000;

// The built file also where the sources are run, as in tests: a bare Node cannot read TypeScript.
const file = fileURLToPath(new URL("../../../dist/commands/fit/report/sureProcess.js", import.meta.url));

/** `end` ends the process, whether it has answered or not. */
export function sureLater(
  looked: Looked,
  options: SureTask["options"] & ThreadsOptions,
  asked: Asked,
  { core, signal }: Pick<Watched, "core" | "signal">,
): { answer(): Promise<Sureness>; end(): void } {
  const here = () => core.measure(() => interruptible(() => surenessOf(looked, refitOf(asked)), signal));
  const { threads = availableParallelism() } = options;
  if (threads === 1 || looked.of < WORTHWHILE_ROWS) return { answer: here, end: () => {} };
  // Flags of this process are about its own main file; typed arrays need this serialization.
  const child = fork(file, { execArgv: [], serialization: "advanced", stdio: ["ignore", "ignore", "ignore", "ipc"] });
  const answered = new Promise<Sureness | undefined>((resolve) => {
    child.once("message", (message) => {
      const { sure, span } = message as SureAnswer;
      core.add(span);
      resolve(sure);
    });
    child.once("error", () => resolve(undefined));
    child.once("exit", () => resolve(undefined));
  });
  // One that is gone says so by its exit.
  child.send({ looked, options }, () => {});
  return { answer: async () => (await answered) ?? here(), end: () => void child.kill("SIGKILL") };
}
