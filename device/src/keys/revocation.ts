// A revocation: what the holder of one key says about another one, or about its own: that it is no longer to be trusted.

import { printable } from "../wire/printable.ts";
import { getInteger, setInteger } from "../wire/studyFrames.ts";
import { LONGEST_REASON } from "./limits.ts";
import { type Identity, peerOf, publicKeyOf } from "./peer.ts";
import { isSignedBy, PUBLIC_BYTES, SIGNATURE_BYTES, signStatement } from "./signature.ts";

const REVOCATION_KIND = "revocation 1";
/** Signer, revoked key, time 8, length of the reason 2; then the reason, then the signature under all of it. */
const REASON_AT = 2 * PUBLIC_BYTES + 10;
const LENGTH_AT = 2 * PUBLIC_BYTES + 8;

export interface Revocation {
  readonly signer: string;
  readonly revoked: string;
  /** Milliseconds since 1970, by the signer's clock: of two by one signer about one key the later one counts. */
  readonly time: number;
  /** Printable. */
  readonly reason: string;
  /** The whole statement as it travels. */
  readonly bytes: Uint8Array;
}

export function makeRevocation(signer: Identity, revoked: string, reason: string, time: number): Revocation {
  const text = new TextEncoder().encode(cut(printable(reason)));
  const bytes = new Uint8Array(REASON_AT + text.length + SIGNATURE_BYTES);
  const view = new DataView(bytes.buffer);
  bytes.set(publicKeyOf(signer.peer));
  bytes.set(publicKeyOf(revoked), PUBLIC_BYTES);
  setInteger(view, 2 * PUBLIC_BYTES, time);
  view.setUint16(LENGTH_AT, text.length, true);
  bytes.set(text, REASON_AT);
  bytes.set(signStatement(signer, REVOCATION_KIND, bytes.subarray(0, -SIGNATURE_BYTES)), REASON_AT + text.length);
  return { signer: signer.peer, revoked, time, reason: new TextDecoder().decode(text), bytes };
}

/** So many that follow each other. Undefined: these bytes are not they, or a reason is too long or not printable. */
export function readRevocations(bytes: Uint8Array, count: number): Revocation[] | undefined {
  const found: Revocation[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (found.length === count || bytes.length - at < REASON_AT + SIGNATURE_BYTES) return undefined;
    const length = new DataView(bytes.buffer, bytes.byteOffset + at).getUint16(LENGTH_AT, true);
    const one = new Uint8Array(bytes.subarray(at, at + REASON_AT + length + SIGNATURE_BYTES));
    at += one.length;
    const revocation = one.length === REASON_AT + length + SIGNATURE_BYTES ? readRevocation(one) : undefined;
    if (revocation === undefined) return undefined;
    found.push(revocation);
  }
  return found.length === count ? found : undefined;
}

function readRevocation(bytes: Uint8Array): Revocation | undefined {
  const time = getInteger(new DataView(bytes.buffer), 2 * PUBLIC_BYTES);
  const reason = textOf(bytes.subarray(REASON_AT, -SIGNATURE_BYTES));
  if (!Number.isSafeInteger(time) || reason === undefined) return undefined;
  const [signer, revoked] = [bytes.subarray(0, PUBLIC_BYTES), bytes.subarray(PUBLIC_BYTES, 2 * PUBLIC_BYTES)];
  return { signer: peerOf(signer), revoked: peerOf(revoked), time, reason, bytes };
}

/** Undefined: it is no text of ours. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return printable(text) === text && cut(text) === text ? text : undefined;
  } catch {
    return undefined;
  }
}

function cut(text: string): string {
  return [...text].slice(0, LONGEST_REASON).join("");
}

export function isSigned({ signer, bytes }: Revocation): boolean {
  return isSignedBy(signer, REVOCATION_KIND, bytes.subarray(0, -SIGNATURE_BYTES), bytes.subarray(-SIGNATURE_BYTES));
}
