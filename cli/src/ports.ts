// Ports of this machine that nobody uses at the moment.

import { createServer, type Server } from "node:net";

/** Below the ports that systems give to outgoing connections: one of those could be taken between finding and using it. */
const LOWEST = 10_000;
const HIGHEST = 32_000;
const MOST_TRIES = 1_000;

/** So many different ones. All are held until the last is found. */
export async function freePorts(host: string, wanted: number): Promise<number[]> {
  const held = new Map<number, Server>();
  try {
    for (let tries = 0; held.size < wanted; tries++) {
      const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
      try {
        held.set(port, await listen(host, port));
      } catch (error) {
        const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
        if (!isTaken || tries > MOST_TRIES) throw error;
      }
    }
    return [...held.keys()];
  } finally {
    await Promise.all([...held.values()].map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

function listen(host: string, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(port, host, () => resolve(server));
  });
}
