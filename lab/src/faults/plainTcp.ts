// Plain TCP on loopback, one message there and back: what the machine itself takes, next to what a link takes.

import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";

export interface PlainPair {
  /** Resolves when the bytes have come back. */
  trip(bytes: Uint8Array): Promise<void>;
  close(): void;
}

export async function plainPair(): Promise<PlainPair> {
  const server = createServer((socket) => socket.setNoDelay(true).pipe(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const near = connect((server.address() as AddressInfo).port, "127.0.0.1").setNoDelay(true);
  await once(near, "connect");
  return {
    async trip(bytes) {
      const back = once(near, "data");
      near.write(bytes);
      await back;
    },
    close() {
      near.destroy();
      server.close();
    },
  };
}
