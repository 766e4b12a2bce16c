// What a request to the dashboard must be like to be heard at all. Pages of other sites, names that were made to point
// to this machine, and other users of it must get nothing and change nothing.

import type { IncomingHttpHeaders } from "node:http";
import { isSame, type Session, type Sessions } from "./sessions.ts";

export interface Asked {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Where the server listens. */
  readonly port: number;
}

export interface Refused {
  readonly code: number;
  readonly text: string;
}

/** Who is asked for what: pages are public code, everything else needs a session. */
const open = { method: "POST", path: "/session" } as const;
const reads = new Set(["/session", "/events", "/export"]);
const changes = new Set(["/act"]);

export const MOST_BODY_BYTES = 64 << 10;
export const PROOF_HEADER = "x-fedkm-proof";

/** Cookies know no ports: two dashboards of one machine need two names. */
export function cookieName(port: number): string {
  return `fedkm-${port}`;
}

/** Undefined: it may be answered. */
export function refusalOf(asked: Asked, sessions: Sessions): Refused | undefined {
  const { method, path, headers, port } = asked;
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
  if (!hosts.includes(headers.host ?? "")) return { code: 403, text: `host must be one of ${hosts.join(", ")}` };
  const { origin } = headers;
  if (origin !== undefined && !hosts.some((host) => origin === `http://${host}`)) {
    return { code: 403, text: "origin must be this page" };
  }
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") {
    return { code: 403, text: "sec-fetch-site must be same-origin or none" };
  }
  const isChange = changes.has(path);
  const isOpening = method === open.method && path === open.path;
  if (isChange || isOpening) return method === "POST" ? refusalOfBody(asked, sessions, isOpening) : wrongMethod("POST");
  if (method !== "GET") return wrongMethod("GET");
  if (reads.has(path) && sessionOf(asked, sessions) === undefined) return { code: 401, text: "a session is needed" };
  return undefined;
}

function wrongMethod(wanted: string): Refused {
  return { code: 405, text: `method must be ${wanted}` };
}

/** A form of another page can send neither this type nor this header. */
function refusalOfBody(asked: Asked, sessions: Sessions, isOpening: boolean): Refused | undefined {
  const { headers } = asked;
  if (headers["content-type"] !== "application/json") {
    return { code: 415, text: "content-type must be application/json" };
  }
  if (Number(headers["content-length"] ?? Number.NaN) > MOST_BODY_BYTES) return { code: 413, text: "body is too long" };
  if (isOpening) return undefined;
  const session = sessionOf(asked, sessions);
  if (session === undefined) return { code: 401, text: "a session is needed" };
  const proof = headers[PROOF_HEADER];
  if (typeof proof !== "string" || !isSame(proof, session.proof))
    return { code: 403, text: `${PROOF_HEADER} is wrong` };
  return undefined;
}

export function sessionOf({ headers, port }: Pick<Asked, "headers" | "port">, sessions: Sessions): Session | undefined {
  const name = `${cookieName(port)}=`;
  const cookies = (headers.cookie ?? "").split(/; */);
  return sessions.find(cookies.find((cookie) => cookie.startsWith(name))?.slice(name.length));
}
