// What devices say to each other about keys, over the links that stand: successors until they are answered, revocations
// until the other side shows them too. Links keep only the latest frame, so that everything is said again until then.

import { Allowance, type Clock, type PeerNetwork } from "../environment.ts";
import * as limits from "../wire/limits.ts";
import * as statements from "./statements.ts";

/** What a device knows about keys, and what it does with news. */
export interface KeyKnowledge {
  /** What a neighbour must be sent so that it follows to the new key; empty: it knows the key. */
  successorsFor(peer: string): readonly statements.Successor[];
  revocations(): readonly statements.Revocation[];
  /** The peer is there, and let this device in. */
  onConnect(peer: string): void;
  /** Statements of a neighbour. Resolves to the id by which it is known from now on, once that is kept; undefined: as before. */
  follow(peer: string, successors: readonly statements.Successor[]): Promise<string | undefined>;
  /** The neighbour knows this device by this id. */
  onKnown(peer: string, self: string): void;
  onRevocations(peer: string, revocations: readonly statements.Revocation[]): void;
}

export interface KeyExchange extends PeerNetwork {
  /** There is something new to say. */
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

/** The network with the frames about keys taken out of it. What is no such frame, malformed or too much is the device's. */
// Long: one closure over what each partner has shown.
export function keyExchange(network: PeerNetwork, clock: Clock, store: KeyKnowledge): KeyExchange {
  const partners = new Map<string, KeyPartner>();
  /** Over all connections of a neighbour. */
  const allowances = new Map<string, Allowance>();
  let cancel: (() => void) | undefined;

  const lacks = ({ shown }: KeyPartner) => store.revocations().some((one) => !shown.has(revocationName(one)));
  const sendRevocations = (peer: string, partner: KeyPartner) => {
    const revocations = store.revocations();
    partner.revocationsSentAt = clock.now();
    if (revocations.length > 0) network.send(peer, statements.encodeRevocations(revocations));
  };
  /** Says what the partner has not answered, if it is time. */
  const sendDue = (peer: string, partner: KeyPartner) => {
    const successors = store.successorsFor(peer);
    const isLacking = lacks(partner);
    if ((successors.length === 0 && !isLacking) || clock.now() < partner.nextAt) return;
    if (successors.length > 0) network.send(peer, statements.encodeSuccessors(successors));
    if (isLacking) sendRevocations(peer, partner);
    partner.nextAt = clock.now() + partner.wait;
    partner.wait = Math.min(limits.LONGEST_REPEAT_MILLISECONDS, 2 * partner.wait);
  };
  const look = () => {
    cancel = undefined;
    for (const [peer, partner] of partners) sendDue(peer, partner);
    const isOpen = [...partners].some(([peer, partner]) => store.successorsFor(peer).length > 0 || lacks(partner));
    if (isOpen) cancel = clock.after(limits.FIRST_REPEAT_MILLISECONDS, look);
  };
  const announce = () => {
    for (const partner of partners.values())
      Object.assign(partner, { nextAt: clock.now(), wait: limits.FIRST_REPEAT_MILLISECONDS });
    cancel?.();
    look();
  };
  const maySpeak = (peer: string) => {
    const now = clock.now();
    const known =
      allowances.get(peer) ?? new Allowance(limits.KEY_FRAME_BURST, limits.BETWEEN_KEY_FRAMES_MILLISECONDS, now);
    allowances.set(peer, known);
    return known.take(now);
  };
  const hear = (peer: string, frame: statements.KeyFrame) => {
    if (frame.kind === "known") store.onKnown(peer, frame.peer);
    if (frame.kind === "successors") {
      void store.follow(peer, frame.successors).then((known) => {
        if (known !== undefined) network.send(peer, statements.encodeKnown(known));
      });
    }
    const partner = partners.get(peer);
    if (frame.kind !== "revocations" || partner === undefined) return;
    partner.shown = new Set(frame.revocations.map(revocationName));
    store.onRevocations(peer, frame.revocations);
    // It may be said again because our answer was lost. Whoever has just spoken does not answer an answer.
    if (clock.now() - partner.revocationsSentAt >= limits.FIRST_REPEAT_MILLISECONDS / 2) sendRevocations(peer, partner);
  };

  return {
    ...network,
    start: (listener) =>
      network.start({
        onConnect(peer) {
          listener.onConnect(peer);
          store.onConnect(peer);
          const start = { revocationsSentAt: Number.NEGATIVE_INFINITY, nextAt: clock.now() };
          const partner: KeyPartner = { shown: new Set(), wait: limits.FIRST_REPEAT_MILLISECONDS, ...start };
          partners.set(peer, partner);
          sendDue(peer, partner);
          cancel ??= clock.after(limits.FIRST_REPEAT_MILLISECONDS, look);
        },
        onDisconnect(peer) {
          partners.delete(peer);
          listener.onDisconnect(peer);
        },
        onFrame(peer, bytes) {
          // Allowed first: a flood must cost less to drop than to send.
          const frame =
            statements.isAboutKeys(bytes) && maySpeak(peer) ? statements.keyStatementsInFrame(bytes) : undefined;
          if (frame === undefined) listener.onFrame(peer, bytes);
          else hear(peer, frame);
        },
      }),
    announce,
    close: () => {
      cancel?.();
      partners.clear();
      return network.close();
    },
  };
}

const revocationName = ({ signer, revoked, time }: statements.Revocation) => `${signer} ${revoked} ${time}`;
