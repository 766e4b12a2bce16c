// Another user of this machine, as a process: a thousand connections at once to one port, on which nothing whole or nothing
// sensible is asked, each opened again a second after it was closed.

import { spawn } from "node:child_process";
import { once } from "node:events";

const CONNECTIONS = 1000;
const script = `
const { connect } = require("node:net");
let opened = 0;
function open(i) {
  const socket = connect(Number(process.argv[1]), "127.0.0.1", () => {
    socket.write(["GET /metrics HT", "\\0\\r\\n\\r\\n", "POST /session HTTP/1.1\\r\\nContent-Length: 9\\r\\n"][i % 3]);
    if (++opened === ${CONNECTIONS}) console.log("all are open");
  });
  socket.on("error", () => {});
  socket.on("close", () => setTimeout(open, 1000, i));
}
for (let i = 0; i < ${CONNECTIONS}; i++) open(i);`;

/** How long each of ten requests takes in the middle of it, in milliseconds, the longest last. */
export async function askInStorm(port: number, ask: () => Promise<unknown>): Promise<number[]> {
  const child = spawn(process.execPath, ["-e", script, String(port)], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    // Its client is loaded before the clock runs.
    await ask();
    await once(child.stdout, "data");
    const taken: number[] = [];
    for (let i = 0; i < 10; i++) {
      const begun = performance.now();
      await ask();
      taken.push(performance.now() - begun);
    }
    return taken.sort((a, b) => a - b);
  } finally {
    child.kill("SIGKILL");
  }
}
