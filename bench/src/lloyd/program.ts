// A program that answers jobs: it reads them from its input, a line each, and writes an answer per line.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Answer, Job } from "./job.ts";

export interface Program {
  ask(job: Job): Promise<Answer>;
  stop(): void;
}

/** Runs until it is stopped, so that a slow start is paid once. Its errors appear with ours. */
export function startProgram(command: string, words: readonly string[], settings: NodeJS.ProcessEnv = {}): Program {
  const child = spawn(command, words, { env: { ...process.env, ...settings }, stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  // Whoever waits for an answer finds the output at its end; a broken pipe says no more than that.
  child.on("error", () => {});
  child.stdin.on("error", () => {});
  return {
    async ask(job) {
      child.stdin.write(`${JSON.stringify(job)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`${command} ended without an answer to ${job.program}, m = ${job.m}, d = ${job.d}`);
      return JSON.parse(value) as Answer;
    },
    stop() {
      child.stdin.end();
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
