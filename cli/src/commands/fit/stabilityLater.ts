// How stable clusters are, by the time it is asked: of large data in a process of its own, while labels are written.
//
// A process and not a thread: Node 20 can abort as a whole when a thread ends while its code is being compiled.

import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { MethodSettings, Stability, StabilityTask } from "@fedkm/tables";
import type { PluginFlags } from "../../plugins.ts";
import type { ThreadFlags } from "../../threads.ts";

// How long the library computes while a command runs. Where two processes do so at once, that time counts once.

/** From when until when, in milliseconds of a clock that all processes of a machine share. */
interface Span {
  readonly from: number;
  readonly to: number;
}

export interface CoreTime {
  measure<T>(work: () => T | Promise<T>): Promise<T>;
  /** What another process has measured. */
  add(span: Span): void;
  /** So far. */
  milliseconds(): number;
}

export function commandCoreTime(now = () => performance.timeOrigin + performance.now()): CoreTime {
  const spans: Span[] = [];
  return {
    async measure(work) {
      const from = now();
      try {
        return await work();
      } finally {
        spans.push({ from, to: now() });
      }
    },
    add: (span) => void spans.push(span),
    milliseconds() {
      let [sum, end] = [0, Number.NEGATIVE_INFINITY];
      for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
        sum += Math.max(0, to - Math.max(from, end));
        end = Math.max(end, to);
      }
      return sum;
    },
  };
}

/** What says which method runs again. */
interface MethodFlags extends MethodSettings, PluginFlags {
  readonly alpha: number;
  readonly seed: number;
  readonly method: string;
}

/** What the process is sent. */
export interface StabilityOrder {
  readonly task: StabilityTask;
  readonly flags: MethodFlags;
}

/** What it answers, and when it computed. */
export interface StabilityAnswer {
  readonly stability: Stability;
  readonly span: Span;
}

/** With fewer rows there is nothing to do meanwhile. */
const WORTHWHILE_ROWS = 100_000;

// The built file also where the sources are run, as in tests: a bare Node cannot read TypeScript.
const file = fileURLToPath(new URL("../../../dist/commands/fit/stabilityProcess.js", import.meta.url));

/** `end` ends the process, whether it has answered or not. */
export function startStabilityProcess(
  task: StabilityTask,
  flags: MethodFlags & ThreadFlags & { readonly study?: unknown },
  here: () => Promise<Stability>,
  core: CoreTime,
): { answer(): Promise<Stability>; end(): void } {
  const { study: _, threads = availableParallelism(), ...method } = flags;
  if (threads === 1 || task.of < WORTHWHILE_ROWS) return { answer: here, end: () => {} };
  // Flags of this process are about its own main file; typed arrays need this serialization.
  const child = fork(file, { execArgv: [], serialization: "advanced", stdio: ["ignore", "ignore", "ignore", "ipc"] });
  const answered = new Promise<Stability | undefined>((resolve) => {
    child.once("message", (message) => {
      const { stability, span } = message as StabilityAnswer;
      core.add(span);
      resolve(stability);
    });
    child.once("error", () => resolve(undefined));
    child.once("exit", () => resolve(undefined));
  });
  // One that is gone says so by its exit.
  child.send({ task, flags: method } satisfies StabilityOrder, () => {});
  return { answer: async () => (await answered) ?? here(), end: () => void child.kill("SIGKILL") };
}
