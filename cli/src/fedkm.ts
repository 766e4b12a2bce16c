// The fedkm command: hands the program its arguments and streams, and the system its exit code.

import { messageLine } from "./failure.ts";
import { run } from "./program.ts";

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // A reader that has seen enough, such as `head`, is no failure of ours.
  if (error.code === "EPIPE") process.exit(0);
  process.stderr.write(`${messageLine(error)}\n`);
  process.exit(1);
});

// Where nothing can be said, on a full disk or to a reader that is gone, the work goes on. What failed is in the exit code.
process.stderr.on("error", () => undefined);

process.exitCode = await run(process.argv.slice(2), process);
