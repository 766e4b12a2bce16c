// Another user of this machine, as a process: a thousand connections at once to one port, on which nothing whole or nothing
// sensible is asked, each opened again a second after it was closed.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "vitest";
import { eventually } from "./eventually.ts";

const CONNECTIONS = 1000;
/** What servers keep of connections on which nobody has asked anything yet. */
const MOST_UNASKED = 64;
const script = `
const { connect } = require("node:net");
const [port] = process.argv.slice(1);
const halves = [
  "GET /metrics HT",
  "\\0\\r\\n\\r\\n",
  "POST /session HTTP/1.1\\r\\nContent-Length: 9\\r\\n",
  "POST /session HTTP/1.1\\r\\nHost: 127.0.0.1:" + port + "\\r\\nContent-Type: application/json\\r\\nContent-Length: 9\\r\\n\\r\\n{",
];
let opened = 0;
let open = 0;
let isOver = false;
function begin(i) {
  // Without its answer being read, its end would not be seen.
  const socket = connect(Number(port), "127.0.0.1").resume();
  socket.once("connect", () => {
    open++;
    socket.once("close", () => open--);
    socket.write(halves[i % halves.length]);
    if (++opened === ${CONNECTIONS}) console.log("all were opened");
  });
  socket.on("error", () => {});
  socket.once("close", () => setTimeout(() => isOver || begin(i), 1000));
}
for (let i = 0; i < ${CONNECTIONS}; i++) begin(i);
process.stdin.once("data", () => {
  isOver = true;
  setInterval(() => console.log(open), 200);
});`;

/** How many of a hundred requests that are sent in one go are answered with what they ask for. */
export async function answeredInOneGo(port: number, path: string): Promise<number> {
  const socket = connect(port, "127.0.0.1");
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`.repeat(100));
  let answer = "";
  socket.setEncoding("latin1").on("data", (chunk) => {
    answer += chunk;
  });
  await once(socket, "close");
  return answer.match(/^HTTP\/1\.1 200 /gm)?.length ?? 0;
}

/**
 * How long the longest of ten requests takes in the middle of it, in milliseconds: of three times ten, where all else on a busy
 * machine may pause them for a moment, the best. Fails if more than a few of the other user's connections stay open after it.
 */
export async function askInStorm(port: number, ask: () => Promise<unknown>): Promise<number> {
  const child = spawn(process.execPath, ["-e", script, String(port)], { stdio: ["pipe", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (chunk) => {
    said = String(chunk);
  });
  try {
    // Its client is loaded before the clock runs.
    await ask();
    if (said === "") await once(child.stdout, "data");
    const longest: number[] = [];
    for (let i = 0; i < 30; i++) {
      const begun = performance.now();
      await ask();
      const times = Math.floor(i / 10);
      longest[times] = Math.max(longest[times] ?? 0, performance.now() - begun);
    }
    child.stdin.write("over\n");
    await eventually(() => expect(Number(said)).toBeLessThanOrEqual(MOST_UNASKED));
    console.log(`the longest of ten requests: ${longest.map(Math.round).join(", ")} ms`);
    return Math.min(...longest);
  } finally {
    child.kill("SIGKILL");
  }
}
