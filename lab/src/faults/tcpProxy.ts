// A TCP proxy that misbehaves on request: late, narrow, or down. What passes is counted, byte for byte.

import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface TcpProxy {
  readonly port: number;
  /** How late every byte is. */
  latencyMilliseconds: number;
  /** Bytes a second and direction. */
  rate: number;
  /** Down: connections are reset, and new ones are as well. */
  setDown(isDown: boolean): void;
  /** Passed since the start, both directions. */
  readonly bytes: number;
  close(): Promise<void>;
}

/** Passes connections on to a port of this machine; 0: there is none yet. */
export async function tcpProxy(target: () => number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isDown = false;
  let bytes = 0;
  const server = createServer((near) => {
    if (isDown || target() === 0) {
      near.resetAndDestroy();
      return;
    }
    const far = connect(target(), "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      // A reset on one side is one on the other.
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        (socket === near ? far : near).destroy();
      });
    }
    carry(near, far);
    carry(far, near);
  });
  const carry = (from: Socket, to: Socket) => {
    let freeAt = 0;
    from.on("data", (chunk) => {
      bytes += chunk.length;
      const now = performance.now();
      freeAt = Math.max(now, freeAt) + (1000 * chunk.length) / proxy.rate;
      const wait = freeAt + proxy.latencyMilliseconds - now;
      if (wait <= 0) to.write(chunk);
      else setTimeout(() => to.writable && to.write(chunk), wait);
    });
    from.on("end", () => setTimeout(() => to.end(), proxy.latencyMilliseconds));
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy: TcpProxy = {
    port: (server.address() as AddressInfo).port,
    latencyMilliseconds: 0,
    rate: Number.POSITIVE_INFINITY,
    setDown(value) {
      isDown = value;
      if (isDown) for (const socket of sockets) socket.resetAndDestroy();
    },
    get bytes() {
      return bytes;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
