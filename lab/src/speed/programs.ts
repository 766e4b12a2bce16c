// Programs that answer jobs of Lloyd iterations: a job a line on their input, an answer a line on their output.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

// What is asked of every program that takes part in the comparison of Lloyd iterations, and what it answers.

/** `jobs` data sets of m points; the first k points of each are where it starts. */
export interface Job {
  readonly program: "ours" | "lloyd64" | "lloyd32" | "faiss" | "ml-kmeans" | "skmeans";
  readonly m: number;
  readonly d: number;
  readonly k: number;
  readonly jobs: number;
  /** Most iterations. */
  readonly cap: number;
  /** Most runs, of which the fastest counts. */
  readonly repeats: number;
  /** No run begins after so many seconds. */
  readonly budget: number;
  /** Files: the points, float64, row after row; where labels are left, uint32. */
  readonly points: string;
  readonly labels: string;
}

export interface Answer {
  /** CPU seconds of the fastest run. */
  readonly seconds: number;
  /** Of all jobs together. */
  readonly iterations: number;
}

export interface Program {
  ask(job: Job): Promise<Answer>;
  stop(): void;
}

/** Runs until it is stopped, so that a slow start is paid once, and again if it died. Its errors appear with ours. */
export function startProgram(command: string, words: readonly string[], settings: NodeJS.ProcessEnv = {}): Program {
  const start = () =>
    spawn(command, words, { env: { ...process.env, ...settings }, stdio: ["pipe", "pipe", "inherit"] });
  let running: { child: ReturnType<typeof start>; lines: AsyncIterator<string>; end: Promise<string> } | undefined;
  const run = () => {
    const child = start();
    // A broken pipe says no more than the end of the program.
    child.stdin.on("error", () => {});
    const end = new Promise<string>((resolve) => {
      child.on("error", ({ message }) => resolve(message));
      child.on("close", (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
    return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](), end };
  };
  return {
    async ask(job) {
      running ??= run();
      const { child, lines, end } = running;
      child.stdin.write(`${JSON.stringify(job)}\n`);
      const { value, done } = await lines.next();
      if (!done) return JSON.parse(value) as Answer;
      running = undefined;
      throw new Error(`ended without an answer (${await end})`);
    },
    stop() {
      running?.child.stdin.end();
    },
  };
}

/** A program of this folder, in a Node of its own: no other program's garbage or profile disturbs it. */
export function startNode(file: "ours.js" | "javascript.js"): Program {
  return startProgram(process.execPath, ["--max-old-space-size=4096", fileURLToPath(new URL(file, import.meta.url))]);
}

/** The other end: answers jobs until the input ends. */
export async function answerJobs(answer: (job: Job) => Answer): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(answer(JSON.parse(line) as Job)));
  }
}
