// Ports of this machine that nobody uses at the moment.

import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";

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
        held.set(port, await listenOn(host, port));
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

/** Whether programs of this machine can reach each other: in some containers they may listen, and nobody gets through. */
export async function checkLoopback(): Promise<void> {
  const host = "127.0.0.1";
  const [port] = await freePorts(host, 1);
  const server = await listenOn(host, port);
  const socket = connect(port, host);
  try {
    await once(socket, "connect");
  } finally {
    socket.destroy();
    server.close();
  }
}

function listenOn(host: string, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(port, host, () => resolve(server));
  });
}
