// Numbers over HTTP for this machine only: /metrics for Prometheus, /status as JSON, /healthz for whoever watches.

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { formatMetrics, METRICS_TYPE } from "./metrics.ts";
import type { DaemonStatus } from "./status.ts";

/** Programs of this machine ask for numbers, a few of them and in one short request each. */
const REQUEST_MILLISECONDS = 5_000;
const MOST_CONNECTIONS = 16;

export interface StatusServer {
  /** The one that was free, if any would do (0). */
  readonly port: number;
  close(): void;
}

/** Listens on loopback. Rejects where the port is taken. */
export async function serveStatus(port: number, status: () => DaemonStatus): Promise<StatusServer> {
  const server = createServer((request, response) => {
    const { code, type, body } = answer(request, status);
    response.writeHead(code, {
      "content-type": type,
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    });
    response.end(body);
  });
  server.requestTimeout = REQUEST_MILLISECONDS;
  server.maxConnections = MOST_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Answer {
  readonly code: number;
  readonly type: string;
  readonly body: string;
}

function answer({ method, url, headers, socket }: IncomingMessage, status: () => DaemonStatus): Answer {
  const text = (code: number, body: string): Answer => ({ code, type: "text/plain; charset=utf-8", body });
  // A web page whose name was made to point here sends its own name, and gets nothing.
  const hosts = [`127.0.0.1:${socket.localPort}`, `localhost:${socket.localPort}`];
  if (!hosts.includes(headers.host ?? "")) return text(403, `host must be one of ${hosts.join(", ")}\n`);
  if (method !== "GET") return text(405, "method must be GET\n");
  if (url === "/metrics") return { code: 200, type: METRICS_TYPE, body: formatMetrics(status()) };
  if (url === "/healthz") {
    // A neighbour's fault is no reason to call this device ill.
    const ills = status().notices.filter(({ link, until }) => link === null && until === null);
    return ills.length === 0 ? text(200, "ok\n") : text(503, ills.map((notice) => `${notice.text}\n`).join(""));
  }
  if (url === "/status") {
    // Centroids are for the owner's own files: other users of this machine can read this port.
    const body = JSON.stringify(status(), (name, value) => (name === "centroids" ? undefined : value));
    return { code: 200, type: "application/json", body: `${body}\n` };
  }
  return text(404, "path must be /metrics, /status or /healthz\n");
}
