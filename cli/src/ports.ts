// Ports of this machine that nobody uses at the moment.

import { type AddressInfo, createServer, type Server } from "node:net";

/** So many different ones. All are held until the last is found. */
export async function freePorts(host: string, wanted: number): Promise<number[]> {
  const servers: Server[] = [];
  try {
    for (let n = 0; n < wanted; n++) servers.push(await listen(host));
    return servers.map((server) => (server.address() as AddressInfo).port);
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

function listen(host: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, host, () => resolve(server));
  });
}
