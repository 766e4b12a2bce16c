// fedkm playground: the static pages on loopback, for this machine only.

import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { extname } from "node:path";
import { site } from "@fedkm/web";
import type { Console } from "../../console.ts";
import { stoppable, untilStopped } from "../../stop.ts";

export interface PlaygroundOptions {
  readonly port: number;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

export async function playground({ port }: PlaygroundOptions, io: Console): Promise<void> {
  await stoppable(async (signal) => {
    const server = createServer(async (request, response) => {
      const { code, type, body } = await answer(request);
      response.writeHead(code, { "content-type": type, "x-content-type-options": "nosniff" });
      response.end(body);
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", resolve);
    });
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    io.stdout.write(`${address}\n`);
    io.stderr.write("The playground is served to this machine. Ctrl-C ends it.\n");
    await untilStopped(signal);
    server.close();
    server.closeAllConnections();
  });
}

interface Answer {
  readonly code: number;
  readonly type: string;
  readonly body: string | Buffer;
}

/** Names of files as the build gives them; nothing else of this machine can be asked for. */
const FILE = /^\/(?:assets\/)?[\w-]+\.(?:html|js|css)$/;

async function answer({ method, url = "/", headers, socket }: IncomingMessage): Promise<Answer> {
  const text = (code: number, body: string): Answer => ({ code, type: "text/plain; charset=utf-8", body });
  // A web page whose name was made to point here sends its own name, and gets nothing.
  const hosts = [`127.0.0.1:${socket.localPort}`, `localhost:${socket.localPort}`];
  if (!hosts.includes(headers.host ?? "")) return text(403, `host must be one of ${hosts.join(", ")}\n`);
  if (method !== "GET") return text(405, "method must be GET\n");
  const path = url === "/" ? "/index.html" : url;
  if (!FILE.test(path)) return text(404, "there is no such page\n");
  try {
    return { code: 200, type: types[extname(path)], body: await readFile(new URL(`.${path}`, site)) };
  } catch {
    return text(404, "there is no such page\n");
  }
}
