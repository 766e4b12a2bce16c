// Keeps one stream to every linked peer: opens, waits longer after each failure, and leaves a peer alone that breaks the rules.

import type { Clock } from "../clock.ts";
import type { NetworkListener } from "../network.ts";
import { type Incoming, incoming } from "./incoming.ts";
import {
  ATTEMPT_MILLISECONDS,
  FIRST_BAN_MILLISECONDS,
  FIRST_RETRY_MILLISECONDS,
  LONGEST_BAN_MILLISECONDS,
  LONGEST_RETRY_MILLISECONDS,
  MOST_OPENINGS,
  OPENINGS_MILLISECONDS,
  SOUND_STREAM_MILLISECONDS,
} from "./limits.ts";
import { type Outgoing, outgoing, type Traffic } from "./outgoing.ts";

/** One stream as the transport gives it. */
export interface Wire {
  /** Which connection carries it. */
  readonly connection: string;
  send(bytes: Uint8Array): void;
  abort(reason: string): void;
}

export interface WireListener {
  onBytes(bytes: Uint8Array): void;
  /** Once, whoever closed it. */
  onClose(): void;
}

/** What the transport does for a keeper. */
interface Wires {
  /** Opens a stream for telling a peer, on the newest connection there is, or rejects. */
  open(peer: string, listener: WireListener, signal: AbortSignal): Promise<Wire>;
  /** Closes everything there is with a peer. */
  hangUp(peer: string): void;
}

export interface KeeperOptions {
  readonly wires: Wires;
  readonly listener: NetworkListener;
  readonly clock: Clock;
  readonly maxFrame: number;
  /** Spreads attempts in time. */
  readonly random: () => number;
  /** A peer broke the rules, in one line. */
  onRefuse(peer: string, reason: string): void;
}

/** What went over a link since it was made. */
export interface LinkTraffic {
  readonly sent: Traffic;
  readonly received: Traffic;
  readonly replaced: number;
  /** Why the last attempt to reach the peer failed; undefined while it is reached. */
  readonly failure: string | undefined;
}

export interface LinkKeeper {
  add(peer: string): void;
  remove(peer: string): void;
  /** Whether a peer may connect now: linked, and not kept away. */
  admits(peer: string): boolean;
  tell(peer: string, frame: Uint8Array): void;
  /** There may be a way to the peer: no need to wait for the next attempt. `isOpen`: the peer has come to us. */
  wake(peer: string, isOpen?: boolean): void;
  /** The peer opened a stream to tell us. Undefined: refused. */
  accept(peer: string, wire: Wire): WireListener | undefined;
  traffic(peer: string): LinkTraffic | undefined;
  close(): void;
}

/** Of one stream: whether it is over, known even before its opening is. */
interface Life {
  over: boolean;
}

interface Link {
  readonly sent: { frames: number; bytes: number };
  readonly received: { frames: number; bytes: number };
  replaced: number;
  telling?: { wire: Wire; outgoing: Outgoing; since: number; life: Life };
  hearing?: { wire: Wire; incoming: Incoming };
  /** Aborts the attempt under way. */
  attempt?: AbortController;
  cancelWait?: () => void;
  /** The peer came to us during an attempt: the next one need not wait. */
  isWoken?: boolean;
  failure?: string;
  /** When the first attempt failed since the last sound stream. */
  downSince?: number;
  offences: number;
  keptAwayUntil: number;
  openings: number[];
}

export function linkKeeper({ wires, listener, clock, maxFrame, random, onRefuse }: KeeperOptions): LinkKeeper {
  const links = new Map<string, Link>();

  const admits = (peer: string) => {
    const link = links.get(peer);
    return link !== undefined && clock.now() >= link.keptAwayUntil;
  };

  /** The traffic of a stream outlives it. */
  const endTelling = (peer: string, link: Link) => {
    const { telling } = link;
    if (telling === undefined) return;
    delete link.telling;
    add(link.sent, telling.outgoing.sent);
    link.replaced += telling.outgoing.replaced;
    listener.onDisconnect(peer);
  };

  const endHearing = (link: Link) => {
    link.hearing?.incoming.close();
    delete link.hearing;
  };

  const retryLater = (peer: string, link: Link) => {
    if (links.get(peer) !== link || link.attempt !== undefined || link.telling !== undefined) return;
    const now = clock.now();
    link.downSince ??= now;
    // No longer than it has been down: whoever is started again at once is found at once, and waits still double.
    const longest = Math.min(LONGEST_RETRY_MILLISECONDS, Math.max(FIRST_RETRY_MILLISECONDS, now - link.downSince));
    link.cancelWait?.();
    const wait = Math.max(random() * longest, link.keptAwayUntil - now);
    link.cancelWait = clock.after(wait, () => open(peer, link));
  };

  const punish = (peer: string, link: Link, reason: string) => {
    onRefuse(peer, reason);
    // Accidents that are far apart do not add up.
    if (clock.now() - link.keptAwayUntil > LONGEST_BAN_MILLISECONDS) link.offences = 0;
    link.keptAwayUntil =
      clock.now() + Math.min(LONGEST_BAN_MILLISECONDS, FIRST_BAN_MILLISECONDS * 2 ** Math.min(link.offences, 20));
    link.offences += 1;
    endHearing(link);
    endTelling(peer, link);
    wires.hangUp(peer);
    retryLater(peer, link);
  };

  const open = async (peer: string, link: Link) => {
    if (links.get(peer) !== link || link.attempt !== undefined || link.telling !== undefined) return;
    link.cancelWait?.();
    const attempt = new AbortController();
    link.attempt = attempt;
    const cancelPatience = clock.after(ATTEMPT_MILLISECONDS, () => attempt.abort(new Error("nobody answered")));
    const life: Life = { over: false };
    try {
      const wire = await wires.open(peer, tellingListener(peer, link, life), attempt.signal);
      // Closed, unlinked or sent away while it opened.
      if (life.over || !admits(peer) || links.get(peer) !== link) wire.abort("not wanted any more");
      else {
        link.telling = { wire, outgoing: outgoing(clock, (bytes) => wire.send(bytes)), since: clock.now(), life };
        delete link.failure;
        listener.onConnect(peer);
      }
    } catch (error) {
      // Not there: an ordinary state of a neighbour, answered by trying again.
      link.failure = error instanceof Error ? error.message : String(error);
    } finally {
      cancelPatience();
      delete link.attempt;
      const { isWoken = false } = link;
      delete link.isWoken;
      if (isWoken && admits(peer)) void open(peer, link);
      else retryLater(peer, link);
    }
  };

  /**
   * A peer that speaks on another connection has lost the one before, and hears nothing there. Only if that carried both
   * directions: else the two ends could follow each other from one connection to the other, for ever.
   */
  const follow = (peer: string, link: Link, from: Wire, to: Wire) => {
    const { telling } = link;
    if (from.connection === to.connection || telling?.wire.connection !== from.connection) return;
    endTelling(peer, link);
    telling.wire.abort("the peer came back on another connection");
    void open(peer, link);
  };

  const tellingListener = (peer: string, link: Link, life: Life): WireListener => ({
    onBytes(bytes) {
      if (link.telling?.life !== life) return;
      const reason = link.telling.outgoing.hear(bytes);
      if (reason !== undefined) punish(peer, link, reason);
    },
    onClose() {
      life.over = true;
      if (link.telling?.life !== life) return;
      if (clock.now() - link.telling.since >= SOUND_STREAM_MILLISECONDS) delete link.downSince;
      endTelling(peer, link);
      retryLater(peer, link);
    },
  });

  return {
    add(peer) {
      if (links.has(peer)) return;
      const link: Link = {
        sent: { frames: 0, bytes: 0 },
        received: { frames: 0, bytes: 0 },
        replaced: 0,
        offences: 0,
        keptAwayUntil: Number.NEGATIVE_INFINITY,
        openings: [],
      };
      links.set(peer, link);
      void open(peer, link);
    },
    remove(peer) {
      const link = links.get(peer);
      if (link === undefined) return;
      links.delete(peer);
      link.cancelWait?.();
      link.attempt?.abort(new Error("unlinked"));
      endHearing(link);
      endTelling(peer, link);
      wires.hangUp(peer);
    },
    admits,
    tell(peer, frame) {
      const telling = links.get(peer)?.telling;
      if (telling !== undefined) telling.outgoing.tell(frame);
    },
    wake(peer, isOpen = false) {
      const link = links.get(peer);
      if (link === undefined || !admits(peer)) return;
      // An address that nobody answers at is not waited for when the peer is here.
      if (isOpen && link.attempt !== undefined) {
        link.isWoken = true;
        link.attempt.abort(new Error("the peer came to us"));
      } else void open(peer, link);
    },
    accept(peer, wire) {
      const link = links.get(peer);
      if (link === undefined || !admits(peer)) return undefined;
      const now = clock.now();
      link.openings = [...link.openings.filter((then) => now - then < OPENINGS_MILLISECONDS), now];
      if (link.openings.length > MOST_OPENINGS) {
        punish(peer, link, `more than ${MOST_OPENINGS} streams were opened within a minute`);
        return undefined;
      }
      // A peer that lost its side of the old stream opens a new one before we notice.
      if (link.hearing !== undefined) {
        const { wire: old } = link.hearing;
        old.abort("replaced by a newer stream");
        endHearing(link);
        follow(peer, link, old, wire);
      }
      const hears = incoming({
        maxFrame,
        clock,
        onFrame(frame) {
          link.received.frames += 1;
          link.received.bytes += frame.length;
          listener.onFrame(peer, frame);
        },
        confirm: (bytes) => wire.send(bytes),
        refuse: (reason) => punish(peer, link, reason),
      });
      const hearing = { wire, incoming: hears };
      link.hearing = hearing;
      return {
        onBytes: (bytes) => hears.hear(bytes),
        onClose() {
          if (link.hearing === hearing) endHearing(link);
        },
      };
    },
    traffic(peer) {
      const link = links.get(peer);
      if (link === undefined) return undefined;
      const sent = { ...link.sent };
      const outgoing = link.telling?.outgoing;
      if (outgoing !== undefined) add(sent, outgoing.sent);
      const replaced = link.replaced + (outgoing?.replaced ?? 0);
      return { sent, received: { ...link.received }, replaced, failure: link.failure };
    },
    close() {
      for (const peer of [...links.keys()]) this.remove(peer);
    },
  };
}

function add(sum: { frames: number; bytes: number }, more: Traffic): void {
  sum.frames += more.frames;
  sum.bytes += more.bytes;
}
