// A console that keeps what it is told.

import type { Console } from "../src/console.ts";

export interface FakeConsole extends Console {
  /** Everything written so far. */
  said(): { stdout: string; stderr: string };
}

export function fakeConsole(options: { terminal?: boolean; env?: Record<string, string> } = {}): FakeConsole {
  const { terminal = false, env = {} } = options;
  const kept = { stdout: "", stderr: "" };
  const output = (name: keyof typeof kept) => ({
    isTTY: terminal,
    write: (text: string) => {
      kept[name] += text;
    },
  });
  return { stdout: output("stdout"), stderr: output("stderr"), env, said: () => ({ ...kept }) };
}
