// What devices say to each other about keys, over the links that stand: successors until they are answered, revocations
// until the other side shows them too. Links keep only the latest frame, so that everything is said again until then.

import type { Clock } from "../environment.ts";
import type { PeerNetwork } from "../network.ts";
import {
  BETWEEN_KEY_FRAMES_MILLISECONDS,
  FIRST_REPEAT_MILLISECONDS,
  KEY_FRAME_BURST,
  LONGEST_REPEAT_MILLISECONDS,
} from "./limits.ts";
import type { Revocation } from "./revocation.ts";
import {
  decodeKeyFrame,
  encodeKnown,
  encodeRevocations,
  encodeSuccessors,
  isAboutKeys,
  type KeyFrame,
} from "./statements.ts";
import type { Successor } from "./successor.ts";

/** What a device knows about keys, and what it does with news. */
export interface KeyKnowledge {
  /** What a neighbour must be sent so that it follows to the new key; empty: it knows the key. */
  successorsFor(peer: string): readonly Successor[];
  revocations(): readonly Revocation[];
  /** The peer is there, and let this device in. */
  onConnect(peer: string): void;
  /** Statements of a neighbour. Resolves to the id by which it is known from now on, once that is kept; undefined: as before. */
  follow(peer: string, successors: readonly Successor[]): Promise<string | undefined>;
  /** The neighbour knows this device by this id. */
  onKnown(peer: string, self: string): void;
  onRevocations(peer: string, revocations: readonly Revocation[]): void;
}

export interface KeyExchange extends PeerNetwork {
  /** The desk has something new to say. */
  announce(): void;
}

/** One neighbour that is connected. */
interface KeyPartner {
  /** The revocations that it has shown on this connection. */
  shown: ReadonlySet<string>;
  revocationsSentAt: number;
  wait: number;
  nextAt: number;
}

/** How often a neighbour may still speak about keys, over all its connections. */
interface Allowance {
  left: number;
  at: number;
}

/** The network with the frames about keys taken out of it. What is no such frame, malformed or too much is the device's. */
export function keyExchange(network: PeerNetwork, clock: Clock, desk: KeyKnowledge): KeyExchange {
  const partners = new Map<string, KeyPartner>();
  const allowances = new Map<string, Allowance>();
  let cancel: (() => void) | undefined;

  const lacks = ({ shown }: KeyPartner) => desk.revocations().some((one) => !shown.has(revocationName(one)));
  const sendRevocations = (peer: string, partner: KeyPartner) => {
    const revocations = desk.revocations();
    partner.revocationsSentAt = clock.now();
    if (revocations.length > 0) network.send(peer, encodeRevocations(revocations));
  };
  /** Says what the partner has not answered, if it is time. */
  const sendDue = (peer: string, partner: KeyPartner) => {
    const successors = desk.successorsFor(peer);
    const isLacking = lacks(partner);
    if ((successors.length === 0 && !isLacking) || clock.now() < partner.nextAt) return;
    if (successors.length > 0) network.send(peer, encodeSuccessors(successors));
    if (isLacking) sendRevocations(peer, partner);
    partner.nextAt = clock.now() + partner.wait;
    partner.wait = Math.min(LONGEST_REPEAT_MILLISECONDS, 2 * partner.wait);
  };
  const look = () => {
    cancel = undefined;
    for (const [peer, partner] of partners) sendDue(peer, partner);
    const isOpen = [...partners].some(([peer, partner]) => desk.successorsFor(peer).length > 0 || lacks(partner));
    if (isOpen) cancel = clock.after(FIRST_REPEAT_MILLISECONDS, look);
  };
  const announce = () => {
    for (const partner of partners.values())
      Object.assign(partner, { nextAt: clock.now(), wait: FIRST_REPEAT_MILLISECONDS });
    cancel?.();
    look();
  };
  const maySpeak = (peer: string) => {
    const { left, at } = allowances.get(peer) ?? { left: KEY_FRAME_BURST, at: clock.now() };
    const gained = (clock.now() - at) / BETWEEN_KEY_FRAMES_MILLISECONDS;
    const now = Math.min(KEY_FRAME_BURST, left + gained);
    allowances.set(peer, { left: Math.max(0, now - 1), at: clock.now() });
    return now >= 1;
  };
  const hear = (peer: string, frame: KeyFrame) => {
    if (frame.kind === "known") desk.onKnown(peer, frame.peer);
    if (frame.kind === "successors") {
      void desk.follow(peer, frame.successors).then((known) => {
        if (known !== undefined) network.send(peer, encodeKnown(known));
      });
    }
    const partner = partners.get(peer);
    if (frame.kind !== "revocations" || partner === undefined) return;
    partner.shown = new Set(frame.revocations.map(revocationName));
    desk.onRevocations(peer, frame.revocations);
    // It may be said again because our answer was lost. Whoever has just spoken does not answer an answer.
    if (clock.now() - partner.revocationsSentAt >= FIRST_REPEAT_MILLISECONDS / 2) sendRevocations(peer, partner);
  };

  return {
    self: network.self,
    start: (listener) =>
      network.start({
        onConnect(peer) {
          listener.onConnect(peer);
          desk.onConnect(peer);
          const start = { revocationsSentAt: Number.NEGATIVE_INFINITY, nextAt: clock.now() };
          const partner: KeyPartner = { shown: new Set(), wait: FIRST_REPEAT_MILLISECONDS, ...start };
          partners.set(peer, partner);
          sendDue(peer, partner);
          cancel ??= clock.after(FIRST_REPEAT_MILLISECONDS, look);
        },
        onDisconnect(peer) {
          partners.delete(peer);
          listener.onDisconnect(peer);
        },
        onFrame(peer, bytes) {
          // Allowed first: a flood must cost less to drop than to send.
          const frame = isAboutKeys(bytes) && maySpeak(peer) ? decodeKeyFrame(bytes) : undefined;
          if (frame === undefined) listener.onFrame(peer, bytes);
          else hear(peer, frame);
        },
      }),
    send: (peer, frame) => network.send(peer, frame),
    announce,
    close: () => {
      cancel?.();
      partners.clear();
      return network.close();
    },
  };
}

const revocationName = ({ signer, revoked, time }: Revocation) => `${signer} ${revoked} ${time}`;
