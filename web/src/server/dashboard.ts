// The dashboard over HTTP, for this machine only: pages, a session, live snapshots, actions, and the address that opens it.

import { readFile, rename, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { type ServedPages, servePagesLocally, staticFile } from "./pages.ts";
import { cookieName, MOST_BODY_BYTES, newToken, requestRefusal, Sessions, sessionOf } from "./requestPolicy.ts";

/** Where the dashboard has its devices from. */
export interface DashboardSource {
  /** As JSON: how all devices are, and each device by its id. The same text means that nothing is new. */
  snapshot(): Promise<{ readonly health: string; readonly devices: ReadonlyMap<string, string> }>;
  /** Does what a person asked for; resolves to a sentence about it, rejects with why not. */
  act(request: unknown): Promise<string>;
  /** A file to keep, such as a model. */
  exported(name: string): Promise<{ readonly name: string; readonly text: string } | undefined>;
}

const LOOK_MILLISECONDS = 500;
/** Something is sent at least this often, so that a page knows that it is still connected. */
const QUIET_MILLISECONDS = 2_000;

const headers = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

/** Serves the dashboard on this machine, to whoever has the token. */
export function serveDashboard(port: number, token: string, source: DashboardSource): Promise<ServedPages> {
  const sessions = new Sessions(token, Date.now);
  return servePagesLocally((request, response) => {
    answer(request, response, sessions, source).catch((error: Error) => send(response, 500, error.message));
  }, port);
}

function send(response: ServerResponse, code: number, text: string, type = "text/plain; charset=utf-8"): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(code, { ...headers, "content-type": type });
  response.end(text);
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  sessions: Sessions,
  source: DashboardSource,
): Promise<void> {
  const address = request.url ?? "/";
  if (!URL.canParse(address, "http://localhost")) return send(response, 400, "the address must be one of this page");
  const { pathname: path, searchParams } = new URL(address, "http://localhost");
  const port = request.socket.localPort as number;
  const described = { method: request.method ?? "", path, headers: request.headers, port };
  const refusal = requestRefusal(described, sessions);
  if (refusal !== undefined) return send(response, refusal.code, refusal.text);
  if (path === "/session" && request.method === "POST") return openSession(request, response, sessions, port);
  if (path === "/session") {
    return send(response, 200, JSON.stringify({ proof: sessionOf(described, sessions)?.proof }), "application/json");
  }
  if (path === "/events") return sendSnapshots(request, response, source);
  if (path === "/export") return sendExport(response, source, searchParams.get("device") ?? "");
  if (path === "/act") return answerAction(request, response, source);
  const file = await staticFile(path === "/" ? "/dashboard.html" : path);
  if (file === undefined) return send(response, 404, "there is no such page");
  response.writeHead(200, { ...headers, "content-type": file.type });
  response.end(file.body);
}

/** Undefined: it is too long, or no JSON. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MOST_BODY_BYTES) return undefined;
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString("utf8"));
  } catch {
    return undefined;
  }
}

async function openSession(
  request: IncomingMessage,
  response: ServerResponse,
  sessions: Sessions,
  port: number,
): Promise<void> {
  const body = await bodyOf(request);
  const token = body !== null && typeof body === "object" && "token" in body ? body.token : undefined;
  if (typeof token !== "string") return send(response, 400, "body must be JSON with a token");
  const session = sessions.open(token);
  if (session === "locked") return send(response, 429, "too many wrong tokens; wait a minute");
  if (session === "wrong") return send(response, 401, "the token is wrong");
  response.setHeader("set-cookie", `${cookieName(port)}=${session.id}; HttpOnly; SameSite=Strict; Path=/`);
  return send(response, 200, JSON.stringify({ proof: session.proof }), "application/json");
}

/** Server-sent events: what is new, whenever something is. */
function sendSnapshots(request: IncomingMessage, response: ServerResponse, source: DashboardSource): void {
  response.writeHead(200, { ...headers, "content-type": "text/event-stream" });
  let sent = { health: "", devices: new Map<string, string>() as ReadonlyMap<string, string> };
  let sentAt = 0;
  const look = async () => {
    const snapshot = await source.snapshot();
    const { health, devices } = snapshot;
    const now = performance.now();
    const changed = [...devices].filter(([id, text]) => sent.devices.get(id) !== text).map(([, text]) => text);
    const isSame = changed.length === 0 && health === sent.health && devices.size === sent.devices.size;
    if (isSame && now - sentAt < QUIET_MILLISECONDS) return;
    const news = `{"health":${health},"ids":${JSON.stringify([...devices.keys()])},"devices":[${changed.join(",")}]}`;
    response.write(isSame ? "event: still\ndata:\n\n" : `data: ${news}\n\n`);
    sent = snapshot;
    sentAt = now;
  };
  let timer: NodeJS.Timeout | undefined;
  const again = () => {
    // What cannot be read now is tried again: the page sees the next snapshot, or that none comes.
    look()
      .catch(() => undefined)
      .finally(() => {
        if (!response.destroyed) timer = setTimeout(again, LOOK_MILLISECONDS);
      });
  };
  again();
  request.once("close", () => clearTimeout(timer));
}

async function answerAction(
  request: IncomingMessage,
  response: ServerResponse,
  source: DashboardSource,
): Promise<void> {
  const body = await bodyOf(request);
  if (body === undefined) return send(response, 400, "body must be JSON of at most 64 KiB");
  try {
    return send(response, 200, JSON.stringify({ said: await source.act(body) }), "application/json");
  } catch (error) {
    return send(response, 409, error instanceof Error ? error.message : String(error));
  }
}

async function sendExport(response: ServerResponse, source: DashboardSource, device: string): Promise<void> {
  const file = await source.exported(device);
  if (file === undefined) return send(response, 404, "there is no such device, or it has no clusters yet");
  // The name is ours, but a header is no place to find out.
  response.setHeader("content-disposition", `attachment; filename="${file.name.replaceAll(/[^\w.-]/g, "_")}"`);
  return send(response, 200, file.text, "application/json");
}

/** The token stays the same from start to start, in a file that only its owner can read. */
const FILE = "dashboard.json";

/** `home` is the folder that keeps the token. */
export async function openDashboard(home: string, source: DashboardSource, port: number): Promise<ServedPages> {
  const last = await readEntry(home);
  const token = last?.token ?? newToken();
  // Where any port will do, the last one is tried first: a page that is open there goes on by itself.
  const again =
    port === 0 && last !== undefined
      ? await serveDashboard(last.port, token, source).catch(() => undefined)
      : undefined;
  const dashboard = again ?? (await serveDashboard(port, token, source));
  const file = join(home, FILE);
  await writeFile(`${file}.new`, `${JSON.stringify({ port: dashboard.port, token })}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return dashboard;
}

/** Where the dashboard of a folder was last served; undefined: it never was. */
export async function dashboardAddress(home: string): Promise<string | undefined> {
  const entry = await readEntry(home);
  // Behind "#": browsers do not send that part, so that it is in no log.
  return entry && `http://127.0.0.1:${entry.port}/#${entry.token}`;
}

async function readEntry(home: string): Promise<{ readonly port: number; readonly token: string } | undefined> {
  try {
    const { port, token } = JSON.parse(await readFile(join(home, FILE), "utf8"));
    return Number.isInteger(port) && typeof token === "string" && token.length >= 40 ? { port, token } : undefined;
  } catch {
    return undefined;
  }
}
