// The fedkm command: hands the program its arguments and streams, and the system its exit code.

import { writeSync } from "node:fs";
import type { Console, Output } from "./console.ts";
import { runCommandLine } from "./program.ts";

process.stdout.on("error", async (error: NodeJS.ErrnoException) => {
  // A reader that has seen enough, such as `head`, is no failure of ours.
  if (error.code === "EPIPE") process.exit(0);
  const { messageLine } = await import("./failure.ts");
  process.stderr.write(`${messageLine(error)}\n`);
  process.exit(1);
});

// Where nothing can be said, on a full disk or to a reader that is gone, the work goes on. What failed is in the exit code.
process.stderr.on("error", () => undefined);

/** By the system itself: Ctrl-C can end a stream in the middle of a write, and then it writes no more. */
const terminal: Output = {
  isTTY: true,
  write(text) {
    try {
      writeSync(2, text);
    } catch {
      // As above.
    }
  },
};

const io: Console = process.stderr.isTTY ? Object.create(process, { stderr: { value: terminal } }) : process;
process.exitCode = await runCommandLine(process.argv.slice(2), io);
