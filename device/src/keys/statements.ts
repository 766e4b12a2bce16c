// Signed statements about keys, and the frames that carry them: successors, by which a device goes on under another key,
// and revocations, by which one key says of another one that it is no longer to be trusted.

import { sign, verify } from "node:crypto";
import { printable } from "@fedkm/files/printable";
import * as frames from "../wire/frames.ts";
import { LONGEST_REASON, MOST_REVOCATIONS, MOST_SUCCESSORS } from "../wire/limits.ts";
import { secretOf, signingKeyOf } from "./nodeKeys.ts";
import { type Identity, peerOf, publicKeyOf } from "./peer.ts";
import { KEY_BYTES, SIGNATURE_BYTES } from "./secrets.ts";

const REVOCATION_KIND = "revocation 1";
/** Signer, revoked key, time 8, length of the reason 2; then the reason, then the signature under all of it. */
const REASON_AT = 2 * KEY_BYTES + 10;
const LENGTH_AT = 2 * KEY_BYTES + 8;

/** What the holder of one key says about another one, or about its own. */
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
  bytes.set(publicKeyOf(revoked), KEY_BYTES);
  frames.setInteger(view, 2 * KEY_BYTES, time);
  view.setUint16(LENGTH_AT, text.length, true);
  bytes.set(text, REASON_AT);
  bytes.set(signStatement(signer, REVOCATION_KIND, bytes.subarray(0, -SIGNATURE_BYTES)), REASON_AT + text.length);
  return { signer: signer.peer, revoked, time, reason: new TextDecoder().decode(text), bytes };
}

/** So many that follow each other. Undefined: these bytes are not they, or a reason is too long or not printable. */
export function revocationStatements(bytes: Uint8Array, count: number): Revocation[] | undefined {
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
  const time = frames.getInteger(new DataView(bytes.buffer), 2 * KEY_BYTES);
  const reason = textOf(bytes.subarray(REASON_AT, -SIGNATURE_BYTES));
  if (!Number.isSafeInteger(time) || reason === undefined) return undefined;
  const [signer, revoked] = [bytes.subarray(0, KEY_BYTES), bytes.subarray(KEY_BYTES, 2 * KEY_BYTES)];
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

const SUCCESSOR_KIND = "successor 1";
/** Old key, new key, time 8: this is signed. Then the signatures of the old and of the new one. */
const SIGNED_BYTES = 2 * KEY_BYTES + 8;
const SUCCESSOR_BYTES = SIGNED_BYTES + 2 * SIGNATURE_BYTES;

/**
 * Signed by both keys: the old one vouches for the new one, and the new one says that it wants to be that, so that nobody
 * can be made somebody's successor.
 */
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
  bytes.set(publicKeyOf(next.peer), KEY_BYTES);
  frames.setInteger(new DataView(bytes.buffer), 2 * KEY_BYTES, time);
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
    const time = frames.getInteger(new DataView(one.buffer), 2 * KEY_BYTES);
    if (!Number.isSafeInteger(time)) return undefined;
    const [old, next] = [peerOf(one.subarray(0, KEY_BYTES)), peerOf(one.subarray(KEY_BYTES, 2 * KEY_BYTES))];
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
export function latestSuccessor(peer: string, successors: readonly Successor[]): string {
  let latest = peer;
  // No more steps than statements: they may lead in a circle.
  for (let steps = 0; steps < successors.length; steps++) {
    latest = successors.find(({ old }) => old === latest)?.next ?? latest;
  }
  return latest;
}

const SCHEME = "fedkm-successor:";

/** One word, for a file or a chat. */
export function successorStatementText(successors: readonly Successor[]): string {
  return `${SCHEME}${Buffer.concat(successors.map(({ bytes }) => bytes)).toString("base64url")}`;
}

export function parseSuccessorStatements(text: string): Successor[] {
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

/**
 * An Ed25519 signature. What is signed begins with the kind of the statement, so that no signature under one kind, or under
 * anything else that a key signs, passes for one under another.
 */
export function signStatement({ key }: Identity, kind: string, bytes: Uint8Array): Uint8Array {
  return sign(null, underKind(kind, bytes), secretOf(key));
}

/** Whether the holder of the peer's key signed exactly this. */
export function isSignedBy(peer: string, kind: string, bytes: Uint8Array, signature: Uint8Array): boolean {
  try {
    return verify(null, underKind(kind, bytes), signingKeyOf(publicKeyOf(peer)), signature);
  } catch {
    // Bytes that are no point of the curve.
    return false;
  }
}

function underKind(kind: string, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([new TextEncoder().encode(`fedkm ${kind}\n`), bytes]);
}

export type KeyFrame =
  | { readonly kind: "successors"; readonly successors: readonly Successor[] }
  /** The sender knows the receiver by this id, and lets it in under it. */
  | { readonly kind: "known"; readonly peer: string }
  | { readonly kind: "revocations"; readonly revocations: readonly Revocation[] };

/** The latest ones of a chain that is too long for a frame. */
export function encodeSuccessors(successors: readonly Successor[]): Uint8Array {
  const latest = successors.slice(-MOST_SUCCESSORS);
  return keyFrame("successors", latest.length, latest);
}

export function encodeKnown(peer: string): Uint8Array {
  return keyFrame("successors", 0, [{ bytes: publicKeyOf(peer) }]);
}

export function encodeRevocations(revocations: readonly Revocation[]): Uint8Array {
  return keyFrame("revocations", revocations.length, revocations);
}

/** Judged by its first bytes. */
export function isAboutKeys(frame: Uint8Array): boolean {
  const isKind =
    frame[frames.KIND_AT] === frames.frameKinds.successors || frame[frames.KIND_AT] === frames.frameKinds.revocations;
  if (frame.length < frames.HEADER_BYTES || !isKind) return false;
  return frameView(frame).getUint32(0, true) === frames.MAGIC;
}

/** Reads a frame that is about keys. Undefined: it is malformed. Signatures are not judged here. */
export function keyStatementsInFrame(frame: Uint8Array): KeyFrame | undefined {
  const count = frameView(frame).getUint16(frames.COUNT_AT, true);
  const body = frame.subarray(frames.HEADER_BYTES);
  if (frame[frames.KIND_AT] === frames.frameKinds.revocations) {
    const revocations = count <= MOST_REVOCATIONS ? revocationStatements(body, count) : undefined;
    return revocations !== undefined && count > 0 ? { kind: "revocations", revocations } : undefined;
  }
  if (count === 0) return body.length === KEY_BYTES ? { kind: "known", peer: peerOf(body) } : undefined;
  const successors = count <= MOST_SUCCESSORS ? readSuccessors(body) : undefined;
  return successors?.length === count ? { kind: "successors", successors } : undefined;
}

function frameView({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** Of no study: the statements are signed by themselves. */
function keyFrame(
  kind: "successors" | "revocations",
  count: number,
  statements: readonly { readonly bytes: Uint8Array }[],
): Uint8Array {
  const header = new Uint8Array(frames.HEADER_BYTES);
  frames.writeHeader(header, kind).setUint16(frames.COUNT_AT, count, true);
  return new Uint8Array(Buffer.concat([header, ...statements.map(({ bytes }) => bytes)]));
}
