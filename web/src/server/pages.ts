// The built pages over HTTP, for this machine only: their own files and nothing else; and the playground, which needs no more.

import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { extname } from "node:path";
import { site } from "../served.ts";

/** Pages that are served until they are closed. */
export interface ServedPages {
  readonly port: number;
  close(): void;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".woff2": "font/woff2",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

/** Names of files as the build gives them. */
const FILE = /^\/(?:assets\/|docs\/(?:[a-z]+\/)?)?[\w-]+\.(?:html|js|css|woff2|svg|png)$/;
/** Of more connections on which nobody has asked anything yet the oldest is closed: who asks at once is always answered. */
const MOST_UNASKED = 64;
/** A connection carries so many requests: whoever sends thousands in one go is answered these. */
const MOST_REQUESTS = 16;

/** Undefined: there is no such file. */
export async function staticFile(path: string): Promise<{ type: string; body: Buffer } | undefined> {
  if (!FILE.test(path)) return undefined;
  try {
    return { type: types[extname(path)], body: await readFile(new URL(`.${path}`, site)) };
  } catch {
    return undefined;
  }
}

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** Listens on 127.0.0.1, and on ::1 where there is one; port 0 takes a free one. */
export async function servePagesLocally(handle: Handle, port: number): Promise<ServedPages> {
  const first = await listen(handle, port, "127.0.0.1");
  const taken = (first.address() as AddressInfo).port;
  const servers = [first, await listen(handle, taken, "::1").catch(() => undefined)];
  return {
    port: taken,
    close() {
      for (const server of servers) {
        server?.close();
        server?.closeAllConnections();
      }
    },
  };
}

async function listen(handle: Handle, port: number, host: string): Promise<Server> {
  const server = createServer(handle);
  server.maxRequestsPerSocket = MOST_REQUESTS;
  const unasked = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    socket.once("close", () => unasked.delete(socket));
    if (unasked.add(socket).size > MOST_UNASKED) [...unasked][0].destroy();
  });
  server.on("request", (request) => {
    const asked = () => unasked.delete(request.socket);
    // One whose body has yet to come has not asked: of those, too, the oldest is closed.
    if ("content-length" in request.headers || "transfer-encoding" in request.headers) request.once("end", asked);
    else asked();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  return server;
}

/** Names of this machine under which its own pages are asked for. */
export function localHosts(port: number): string[] {
  return [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
}

/** Serves article, playground and documentation on this machine. */
export function servePlayground(port: number): Promise<ServedPages> {
  return servePagesLocally(async (request, response) => {
    const { code, type, body } = await playgroundAnswer(request);
    response.writeHead(code, { "content-type": type, "x-content-type-options": "nosniff" });
    response.end(body);
  }, port);
}

async function playgroundAnswer({ method, url = "/", headers, socket }: IncomingMessage) {
  const text = (code: number, body: string) => ({ code, type: "text/plain; charset=utf-8", body });
  // A web page whose name was made to point here sends its own name, and gets nothing.
  const hosts = localHosts(socket.localPort as number);
  if (!hosts.includes(headers.host ?? "")) return text(403, `host must be one of ${hosts.join(", ")}\n`);
  if (method !== "GET") return text(405, "method must be GET\n");
  const file = await staticFile(url === "/" ? "/index.html" : url);
  return file === undefined ? text(404, "there is no such page\n") : { code: 200, ...file };
}
