// A successor: the statement of a device that it goes on under another key, signed by both keys. The old one vouches for
// the new one, and the new one says that it wants to be that, so that nobody can be made somebody's successor.

import { getInteger, setInteger } from "../wire/studyFrames.ts";
import { type Identity, peerOf, publicKeyOf } from "./peer.ts";
import { isSignedBy, PUBLIC_BYTES, SIGNATURE_BYTES, signStatement } from "./signature.ts";

const SUCCESSOR_KIND = "successor 1";
/** Old key, new key, time 8: this is signed. Then the signatures of the old and of the new one. */
const SIGNED_BYTES = 2 * PUBLIC_BYTES + 8;
const SUCCESSOR_BYTES = SIGNED_BYTES + 2 * SIGNATURE_BYTES;

export interface Successor {
  readonly old: string;
  readonly next: string;
  /** Milliseconds since 1970, by the clock of whoever signed. It is for people: nothing is decided by it. */
  readonly time: number;
  /** The whole statement as it travels. */
  readonly bytes: Uint8Array;
}

export function makeSuccessor(old: Identity, next: Identity, time: number): Successor {
  const bytes = new Uint8Array(SUCCESSOR_BYTES);
  bytes.set(publicKeyOf(old.peer));
  bytes.set(publicKeyOf(next.peer), PUBLIC_BYTES);
  setInteger(new DataView(bytes.buffer), 2 * PUBLIC_BYTES, time);
  const signed = bytes.subarray(0, SIGNED_BYTES);
  bytes.set(signStatement(old, SUCCESSOR_KIND, signed), SIGNED_BYTES);
  bytes.set(signStatement(next, SUCCESSOR_KIND, signed), SIGNED_BYTES + SIGNATURE_BYTES);
  return { old: old.peer, next: next.peer, time, bytes };
}

/** Statements that follow each other. Undefined: these bytes are none. */
export function readSuccessors(bytes: Uint8Array): Successor[] | undefined {
  if (bytes.length % SUCCESSOR_BYTES !== 0) return undefined;
  const found: Successor[] = [];
  for (let at = 0; at < bytes.length; at += SUCCESSOR_BYTES) {
    const one = new Uint8Array(bytes.subarray(at, at + SUCCESSOR_BYTES));
    const time = getInteger(new DataView(one.buffer), 2 * PUBLIC_BYTES);
    if (!Number.isSafeInteger(time)) return undefined;
    const [old, next] = [peerOf(one.subarray(0, PUBLIC_BYTES)), peerOf(one.subarray(PUBLIC_BYTES, 2 * PUBLIC_BYTES))];
    found.push({ old, next, time, bytes: one });
  }
  return found;
}

/** Whether both keys signed it. */
export function isVouched({ old, next, bytes }: Successor): boolean {
  const signed = bytes.subarray(0, SIGNED_BYTES);
  const [byOld, byNext] = [bytes.subarray(SIGNED_BYTES, -SIGNATURE_BYTES), bytes.subarray(-SIGNATURE_BYTES)];
  return (
    old !== next && isSignedBy(old, SUCCESSOR_KIND, signed, byOld) && isSignedBy(next, SUCCESSOR_KIND, signed, byNext)
  );
}

/** Where statements lead from this id, one after the other; the id itself where none is about it. */
export function latestOf(peer: string, successors: readonly Successor[]): string {
  let latest = peer;
  // No more steps than statements: they may lead in a circle.
  for (let steps = 0; steps < successors.length; steps++) {
    latest = successors.find(({ old }) => old === latest)?.next ?? latest;
  }
  return latest;
}

const SCHEME = "fedkm-successor:";

/** One word, for a file or a chat. */
export function formatSuccessors(successors: readonly Successor[]): string {
  return `${SCHEME}${Buffer.concat(successors.map(({ bytes }) => bytes)).toString("base64url")}`;
}

export function parseSuccessors(text: string): Successor[] {
  const [, encoded] = /^fedkm-successor:([\w-]+)$/.exec(text.trim()) ?? [];
  const found = encoded === undefined ? undefined : readSuccessors(Buffer.from(encoded, "base64url"));
  if (found === undefined || found.length === 0) {
    throw new RangeError(`successor must look like ${SCHEME}..., got "${text.slice(0, 60)}"`);
  }
  const wrong = found.findIndex((one) => !isVouched(one));
  if (wrong >= 0)
    throw new RangeError(`successor must be signed by both keys, got another signature in statement ${wrong + 1}`);
  return found;
}
