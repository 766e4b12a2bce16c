// fedkm playground: the static pages on loopback, for this machine only.

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { unreadSettings } from "@fedkm/web";
import type { Console } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { staticFile } from "../../staticFiles.ts";
import { stoppable, untilStopped } from "../../stop.ts";

export interface PlaygroundOptions {
  /** Behind "#" in the page's address, with or without that sign; empty: the page's own first screen. */
  readonly state: string;
  readonly port: number;
}

export async function playground({ state, port }: PlaygroundOptions, io: Console): Promise<void> {
  const shown = state.replace(/^#/, "");
  checkState(shown);
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
    const hash = shown === "" ? "" : `#${shown}`;
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${hash}`;
    io.stdout.write(`${address}\n`);
    io.stderr.write("The playground is served to this machine. Ctrl-C ends it.\n");
    await untilStopped(signal);
    server.close();
    server.closeAllConnections();
  });
}

/** The page leaves out what it cannot read; a command says so. */
function checkState(state: string): void {
  const unread = unreadSettings(state);
  if (unread.length > 0) {
    throw new UsageError(
      `state must hold settings of the playground, got ${unread.map((own) => `"${own}"`).join(", ")}`,
    );
  }
}

interface Answer {
  readonly code: number;
  readonly type: string;
  readonly body: string | Buffer;
}

async function answer({ method, url = "/", headers, socket }: IncomingMessage): Promise<Answer> {
  const text = (code: number, body: string): Answer => ({ code, type: "text/plain; charset=utf-8", body });
  // A web page whose name was made to point here sends its own name, and gets nothing.
  const hosts = [`127.0.0.1:${socket.localPort}`, `localhost:${socket.localPort}`];
  if (!hosts.includes(headers.host ?? "")) return text(403, `host must be one of ${hosts.join(", ")}\n`);
  if (method !== "GET") return text(405, "method must be GET\n");
  const file = await staticFile(url === "/" ? "/index.html" : url);
  return file === undefined ? text(404, "there is no such page\n") : { code: 200, ...file };
}
