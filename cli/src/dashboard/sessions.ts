// Who may use a dashboard: whoever has read its token, a file of mode 600, has a session for some hours. A session is
// signed with the token and kept nowhere, so that it outlives a restart of the device.

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

const SESSION_MILLISECONDS = 12 * 3_600_000;
/** So many wrong tokens within a minute close the door for a minute. */
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

  /** A session for whoever knows the token. */
  open(token: string): Session | "wrong" | "locked" {
    const now = this.#now();
    if (now < this.#lockedUntil) return "locked";
    if (!isSame(token, this.#token)) {
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
export function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHmac("sha256", "compared").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
