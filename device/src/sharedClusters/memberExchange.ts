// How devices tell each other who is a member: all statements to whoever has not shown that it has the same, again and
// again until it does. Where nobody has said anything nothing is sent.

import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import { COUNT_AT, type Contract, HEADER_BYTES, type Stamp, writeHeader } from "../wire/frames.ts";
import { BOARD_BEAT_MILLISECONDS, MEMBER_STATEMENTS_PER_FRAME, PATIENCE_MILLISECONDS } from "../wire/limits.ts";
import {
  decodeMemberStatements,
  LARGEST_MEMBER_STATEMENT,
  type MemberStatement,
  type Membership,
} from "./membership.ts";

export interface MembersMessage {
  readonly kind: "members";
  readonly stamp: Stamp;
  /** Of all statements that the sender has. */
  readonly digest: Uint8Array;
  /** The sender wants to know whether the receiver has them too. */
  readonly isAsking: boolean;
  readonly statements: readonly MemberStatement[];
}

const DIGEST_BYTES = 32;

/** Statements about members as a frame of the protocol. */
export function encodeMembers(contract: Contract, message: Omit<MembersMessage, "kind" | "stamp">): Uint8Array {
  const { digest, isAsking, statements } = message;
  const head = new Uint8Array(HEADER_BYTES + DIGEST_BYTES + 1);
  writeHeader(head, "members", contract).setUint16(COUNT_AT, statements.length, true);
  head.set(digest, HEADER_BYTES);
  head[HEADER_BYTES + DIGEST_BYTES] = isAsking ? 1 : 0;
  return concatBytes(head, ...statements.map(({ bytes }) => bytes));
}

/** Undefined: it is malformed. */
export function decodeMembers(frame: Uint8Array): MembersMessage | undefined {
  const from = HEADER_BYTES + DIGEST_BYTES + 1;
  const count = new DataView(frame.buffer, frame.byteOffset).getUint16(COUNT_AT, true);
  if (frame.length < from || frame[from - 1] > 1 || count > MEMBER_STATEMENTS_PER_FRAME) return undefined;
  // Measured before it is read.
  if (frame.length - from > count * LARGEST_MEMBER_STATEMENT) return undefined;
  const statements = decodeMemberStatements(frame, from);
  if (statements?.length !== count) return undefined;
  const digest = frame.slice(HEADER_BYTES, from - 1);
  return { kind: "members", stamp: { epoch: 0, sequence: 0 }, digest, isAsking: frame[from - 1] === 1, statements };
}

/** What a neighbour has shown, and when it is told again. */
interface Listener {
  shown: string;
  isOwed: boolean;
  wait: number;
  nextAt: number;
  /** Where the next part begins, of more than a frame holds. */
  from: number;
}

export class MemberExchange {
  readonly #membership: Membership;
  readonly #listeners = new Map<string, Listener>();

  constructor(membership: Membership) {
    this.#membership = membership;
  }

  connect(peer: string, now: number): void {
    this.#listeners.set(peer, { shown: "", isOwed: false, wait: PATIENCE_MILLISECONDS, nextAt: now, from: 0 });
  }

  disconnect(peer: string): void {
    this.#listeners.delete(peer);
  }

  /** Something is new: all are told at once. */
  announce(now: number): void {
    for (const listener of this.#listeners.values())
      Object.assign(listener, { nextAt: now, wait: PATIENCE_MILLISECONDS });
  }

  hear(peer: string, { digest, isAsking }: MembersMessage): void {
    const listener = this.#listeners.get(peer);
    if (listener === undefined) return;
    listener.shown = bytesToHex(digest);
    listener.isOwed ||= isAsking;
  }

  /** What is to be said now, and when to look again. */
  due(contract: Contract, now: number): { frames: { peer: string; frame: Uint8Array }[]; nextAt: number } {
    const { digest, statements } = this.#membership;
    const own = bytesToHex(digest);
    const frames: { peer: string; frame: Uint8Array }[] = [];
    let nextAt = Number.POSITIVE_INFINITY;
    for (const [peer, listener] of this.#listeners) {
      const isAsking = statements.length > 0 && listener.shown !== own;
      if (listener.isOwed || (isAsking && listener.nextAt <= now)) {
        const part = isAsking ? statements.slice(listener.from, listener.from + MEMBER_STATEMENTS_PER_FRAME) : [];
        listener.from = listener.from + part.length < statements.length ? listener.from + part.length : 0;
        frames.push({ peer, frame: encodeMembers(contract, { digest, isAsking, statements: part }) });
        listener.isOwed = false;
        listener.nextAt = now + listener.wait;
        listener.wait = Math.min(2 * listener.wait, BOARD_BEAT_MILLISECONDS);
      }
      if (isAsking) nextAt = Math.min(nextAt, listener.nextAt);
    }
    return { frames, nextAt };
  }
}
