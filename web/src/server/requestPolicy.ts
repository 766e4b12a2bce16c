// Which requests to the dashboard are answered: pages of other sites, names that were made to point to this machine, and
// other users of it must get nothing and change nothing.

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { localHosts } from "./pages.ts";

interface DashboardRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly port: number;
}

interface Refusal {
  readonly code: number;
  readonly text: string;
}

/** Pages are public code; everything else needs a session. */
const reads = new Set(["/session", "/events", "/export"]);

export const MOST_BODY_BYTES = 64 << 10;
export const PROOF_HEADER = "x-fedkm-proof";

/** Cookies know no ports: two dashboards of one machine need two names. */
export function cookieName(port: number): string {
  return `fedkm-${port}`;
}

/** Undefined: it may be answered. */
export function requestRefusal(request: DashboardRequest, sessions: Sessions): Refusal | undefined {
  const { method, path, headers, port } = request;
  const hosts = localHosts(port);
  if (!hosts.includes(headers.host ?? "")) return { code: 403, text: `host must be one of ${hosts.join(", ")}` };
  const { origin } = headers;
  if (origin !== undefined && !hosts.some((host) => origin === `http://${host}`)) {
    return { code: 403, text: "origin must be this page" };
  }
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") {
    return { code: 403, text: "sec-fetch-site must be same-origin or none" };
  }
  const isOpening = method === "POST" && path === "/session";
  if (path === "/act" || isOpening)
    return method === "POST" ? refusalOfBody(request, sessions, isOpening) : wrongMethod("POST");
  if (method !== "GET") return wrongMethod("GET");
  if (reads.has(path) && sessionOf(request, sessions) === undefined) return { code: 401, text: "a session is needed" };
  return undefined;
}

function wrongMethod(wanted: string): Refusal {
  return { code: 405, text: `method must be ${wanted}` };
}

/** A form of another page can send neither this type nor this header. */
function refusalOfBody(request: DashboardRequest, sessions: Sessions, isOpening: boolean): Refusal | undefined {
  const { headers } = request;
  if (headers["content-type"] !== "application/json") {
    return { code: 415, text: "content-type must be application/json" };
  }
  if (Number(headers["content-length"] ?? Number.NaN) > MOST_BODY_BYTES) return { code: 413, text: "body is too long" };
  if (isOpening) return undefined;
  const session = sessionOf(request, sessions);
  if (session === undefined) return { code: 401, text: "a session is needed" };
  const proof = headers[PROOF_HEADER];
  if (typeof proof !== "string" || !isSame(proof, session.proof))
    return { code: 403, text: `${PROOF_HEADER} is wrong` };
  return undefined;
}

export function sessionOf(
  { headers, port }: Pick<DashboardRequest, "headers" | "port">,
  sessions: Sessions,
): Session | undefined {
  const name = `${cookieName(port)}=`;
  const cookies = (headers.cookie ?? "").split(/; */);
  return sessions.find(cookies.find((cookie) => cookie.startsWith(name))?.slice(name.length));
}

const SESSION_MILLISECONDS = 12 * 3_600_000;
/** After so many wrong tokens within a minute, no guess is answered for a minute. */
const MOST_WRONG = 5;
const LOCK_MILLISECONDS = 60_000;

export interface Session {
  /** The value of the cookie. */
  readonly id: string;
  /** What a page must send along with whatever changes something. Other pages cannot read it. */
  readonly proof: string;
}

export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * Whoever has read the dashboard's token, a file of mode 600, has a session for some hours. A session is signed with the
 * token and stored nowhere, so that it outlives a restart of the device.
 */
export class Sessions {
  readonly #token: string;
  /** The time of day, which goes on while nothing runs. */
  readonly #now: () => number;
  #wrong: number[] = [];
  #lockedUntil = Number.NEGATIVE_INFINITY;

  constructor(token: string, now: () => number) {
    this.#token = token;
    this.#now = now;
  }

  open(token: string): Session | "wrong" | "locked" {
    const now = this.#now();
    // Only who guesses is locked out: the owner's token is right whatever others try.
    if (!isSame(token, this.#token)) {
      if (now < this.#lockedUntil) return "locked";
      this.#wrong = [...this.#wrong.filter((at) => now - at < LOCK_MILLISECONDS), now];
      if (this.#wrong.length >= MOST_WRONG) {
        this.#wrong = [];
        this.#lockedUntil = now + LOCK_MILLISECONDS;
      }
      return "wrong";
    }
    const named = `${Math.round(now + SESSION_MILLISECONDS)}.${newToken()}`;
    return this.#sessionOf(`${named}.${this.#signed(named)}`);
  }

  find(id: string | undefined): Session | undefined {
    if (id === undefined) return undefined;
    const [until, nonce, signature = ""] = id.split(".");
    if (!isSame(signature, this.#signed(`${until}.${nonce}`)) || !(Number(until) > this.#now())) return undefined;
    return this.#sessionOf(id);
  }

  #sessionOf(id: string): Session {
    return { id, proof: this.#signed(`proof of ${id}`) };
  }

  #signed(text: string): string {
    return createHmac("sha256", this.#token).update(text).digest("base64url");
  }
}

/** In a time that says nothing of how much is right. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHmac("sha256", "compared").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
