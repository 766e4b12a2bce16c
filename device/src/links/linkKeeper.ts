// Keeps one stream to every linked peer: opens it, opens it again after a failure, and keeps a peer away that breaks the rules.

import { type Clock, type NetworkListener, reasonOf } from "../environment.ts";
import { frameVersionFault } from "../wire/frames.ts";
import * as limits from "../wire/limits.ts";
import { CALM_MILLISECONDS, RESTLESS_FRAMES, RESTLESS_FRAMES_PER_SECOND } from "../wire/limits.ts";
import {
  type IncomingFrames,
  incomingFrameStream,
  type OutgoingFrames,
  outgoingFrameStream,
  type StreamTraffic,
} from "./frameStream.ts";

/** One stream as the transport gives it. */
export interface ByteStream {
  /** Which connection carries it. */
  readonly connection: string;
  send(bytes: Uint8Array): void;
  abort(reason: string): void;
}

export interface StreamListener {
  onBytes(bytes: Uint8Array): void;
  /** Once, whoever closed it. */
  onClose(): void;
}

/** What the transport does for a keeper. */
export interface StreamTransport {
  /** Opens a stream for sending to a peer, on `connection` or else on the newest one there is, or rejects. */
  open(peer: string, listener: StreamListener, signal: AbortSignal, connection?: string): Promise<ByteStream>;
  /** Closes everything there is with a peer. */
  hangUp(peer: string): void;
}

/** The peer speaks another version of the protocol, and none of ours. */
export class OtherVersionError extends Error {
  readonly version: number;

  constructor(version: number) {
    super(`it ${frameVersionFault(version)}`);
    this.version = version;
  }
}

/** The peer answered, proved its key and hung up. */
export class NotLinkedBackError extends Error {
  constructor() {
    super('it has not linked back (run "fedkm device accept" there), or it keeps this device away for a while');
  }
}

interface KeeperOptions {
  readonly transport: StreamTransport;
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
  readonly sent: StreamTraffic;
  readonly received: StreamTraffic;
  readonly replaced: number;
  /** Whether it sends so much that only some of its frames are used. */
  readonly isRestless: boolean;
  /** Why the last attempt to reach the peer failed; undefined while it is reached. */
  readonly failure: string | undefined;
  /** Whether it failed because the peer, who is there, does not want this device. */
  readonly isUnwanted: boolean;
  /** The version that it speaks, if the attempt failed because that is none of ours. */
  readonly version: number | undefined;
}

export type LinkKeeper = ReturnType<typeof linkKeeper>;

/** Of one stream: whether it is over, known even before its opening is. */
interface Life {
  over: boolean;
}

interface LinkState {
  readonly throttle: FrameThrottle;
  readonly sent: { frames: number; bytes: number };
  readonly received: { frames: number; bytes: number };
  replaced: number;
  sending?: { stream: ByteStream; outgoing: OutgoingFrames; since: number; life: Life };
  receiving?: { stream: ByteStream; incoming: IncomingFrames };
  /** Aborts the attempt under way. */
  attempt?: AbortController;
  cancelWait?: () => void;
  /** The peer came to us during an attempt: the next one need not wait. */
  isWoken?: boolean;
  failure?: string;
  version?: number;
  /** The last attempt failed because the peer, who is there, does not want to hear us. */
  isKnocking?: boolean;
  /** When the first attempt failed since the last sound stream. */
  downSince?: number;
  offences: number;
  keptAwayUntil: number;
  openings: number[];
}

// Long: one closure over the links; opening, ending and punishing call each other.
export function linkKeeper(options: KeeperOptions) {
  const { transport, listener, clock, maxFrame, random, onRefuse } = options;
  const links = new Map<string, LinkState>();

  /** Whether a peer may connect now: linked, and not kept away. */
  const admits = (peer: string) => {
    const link = links.get(peer);
    return link !== undefined && clock.now() >= link.keptAwayUntil;
  };

  /** The traffic of a stream outlives it. */
  const endSending = (peer: string, link: LinkState) => {
    const { sending } = link;
    if (sending === undefined) return;
    delete link.sending;
    add(link.sent, sending.outgoing.sent);
    link.replaced += sending.outgoing.replaced;
    listener.onDisconnect(peer);
  };

  const endReceiving = (link: LinkState) => {
    link.receiving?.incoming.close();
    delete link.receiving;
  };

  const retryLater = (peer: string, link: LinkState) => {
    if (links.get(peer) !== link || link.attempt !== undefined || link.sending !== undefined) return;
    const now = clock.now();
    link.downSince ??= now;
    // No longer than it has been down: whoever is started again at once is found at once, and waits still double.
    const bound = link.isKnocking ? limits.LONGEST_KNOCK_MILLISECONDS : limits.LONGEST_RETRY_MILLISECONDS;
    const longest = Math.min(bound, Math.max(limits.FIRST_RETRY_MILLISECONDS, now - link.downSince));
    link.cancelWait?.();
    const wait = Math.max(random() * longest, link.keptAwayUntil - now);
    link.cancelWait = clock.after(wait, () => open(peer, link));
  };

  const punish = (peer: string, link: LinkState, reason: string) => {
    onRefuse(peer, reason);
    // Accidents that are far apart do not add up.
    if (clock.now() - link.keptAwayUntil > limits.LONGEST_BAN_MILLISECONDS) link.offences = 0;
    link.keptAwayUntil =
      clock.now() +
      Math.min(limits.LONGEST_BAN_MILLISECONDS, limits.FIRST_BAN_MILLISECONDS * 2 ** Math.min(link.offences, 20));
    link.offences += 1;
    endReceiving(link);
    endSending(peer, link);
    transport.hangUp(peer);
    retryLater(peer, link);
  };

  const open = async (peer: string, link: LinkState, connection?: string) => {
    if (links.get(peer) !== link || link.attempt !== undefined || link.sending !== undefined) return;
    link.cancelWait?.();
    const attempt = new AbortController();
    link.attempt = attempt;
    const cancelPatience = clock.after(limits.ATTEMPT_MILLISECONDS, () => attempt.abort(new Error("nobody answered")));
    const life: Life = { over: false };
    try {
      const stream = await transport.open(peer, sendingListener(peer, link, life), attempt.signal, connection);
      // Closed, unlinked or sent away while it opened.
      if (life.over || !admits(peer) || links.get(peer) !== link) stream.abort("not wanted any more");
      else {
        const outgoing = outgoingFrameStream(clock, (bytes) => stream.send(bytes));
        link.sending = { stream, outgoing, since: clock.now(), life };
        delete link.failure;
        delete link.version;
        listener.onConnect(peer);
      }
    } catch (error) {
      // Not there: an ordinary state of a neighbour, answered by trying again.
      link.failure = reasonOf(error);
      link.isKnocking = error instanceof NotLinkedBackError;
      if (error instanceof OtherVersionError) link.version = error.version;
      else delete link.version;
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
   * A peer that speaks on another connection has lost the one before, and receives nothing there. Only if that carried both
   * directions: else the two ends could follow each other from one connection to the other, for ever.
   */
  const follow = (peer: string, link: LinkState, from: ByteStream, to: ByteStream) => {
    const { sending } = link;
    if (from.connection === to.connection || sending?.stream.connection !== from.connection) return;
    endSending(peer, link);
    sending.stream.abort("the peer came back on another connection");
    // Not on the newest one: of two devices with one key, the one that speaks is the one to answer.
    void open(peer, link, to.connection);
  };

  const sendingListener = (peer: string, link: LinkState, life: Life): StreamListener => ({
    onBytes(bytes) {
      if (link.sending?.life !== life) return;
      const reason = link.sending.outgoing.receive(bytes);
      if (reason !== undefined) punish(peer, link, reason);
    },
    onClose() {
      life.over = true;
      if (link.sending?.life !== life) return;
      if (clock.now() - link.sending.since >= limits.SOUND_STREAM_MILLISECONDS) delete link.downSince;
      endSending(peer, link);
      retryLater(peer, link);
    },
  });

  const remove = (peer: string) => {
    const link = links.get(peer);
    if (link === undefined) return;
    links.delete(peer);
    link.cancelWait?.();
    link.throttle.close();
    link.attempt?.abort(new Error("unlinked"));
    endReceiving(link);
    endSending(peer, link);
    transport.hangUp(peer);
  };

  return {
    add(peer: string) {
      if (links.has(peer)) return;
      const link: LinkState = {
        throttle: frameThrottle(clock, (frame) => listener.onFrame(peer, frame)),
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
    remove,
    admits,
    send: (peer: string, frame: Uint8Array) => links.get(peer)?.sending?.outgoing.send(frame),
    /** There may be a way to the peer: no need to wait for the next attempt. `isOpen`: the peer has come to us. */
    wake(peer: string, isOpen = false) {
      const link = links.get(peer);
      if (link === undefined || !admits(peer)) return;
      // An address that nobody answers at is not waited for when the peer is here.
      if (isOpen && link.attempt !== undefined) {
        link.isWoken = true;
        link.attempt.abort(new Error("the peer came to us"));
      } else void open(peer, link);
    },
    /** The peer opened a stream to send to us. Undefined: refused. */
    accept(peer: string, stream: ByteStream): StreamListener | undefined {
      const link = links.get(peer);
      if (link === undefined || !admits(peer)) return undefined;
      const now = clock.now();
      link.openings = [...link.openings.filter((then) => now - then < limits.OPENINGS_MILLISECONDS), now];
      if (link.openings.length > limits.MOST_OPENINGS) {
        punish(peer, link, `more than ${limits.MOST_OPENINGS} streams were opened within a minute`);
        return undefined;
      }
      // A peer that lost its side of the old stream opens a new one before we notice.
      if (link.receiving !== undefined) {
        const { stream: old } = link.receiving;
        old.abort("replaced by a newer stream");
        endReceiving(link);
        follow(peer, link, old, stream);
      }
      const receiver = incomingFrameStream({
        maxFrame,
        clock,
        onFrame(frame) {
          link.received.frames += 1;
          link.received.bytes += frame.length;
          link.throttle.take(frame);
        },
        confirm: (bytes) => stream.send(bytes),
        refuse: (reason) => punish(peer, link, reason),
      });
      const receiving = { stream, incoming: receiver };
      link.receiving = receiving;
      return {
        onBytes: (bytes) => receiver.receive(bytes),
        onClose() {
          if (link.receiving === receiving) endReceiving(link);
        },
      };
    },
    traffic(peer: string): LinkTraffic | undefined {
      const link = links.get(peer);
      if (link === undefined) return undefined;
      const sent = { ...link.sent };
      const outgoing = link.sending?.outgoing;
      if (outgoing !== undefined) add(sent, outgoing.sent);
      const replaced = link.replaced + (outgoing?.replaced ?? 0);
      const { received, failure, version, throttle } = link;
      const isUnwanted = failure !== undefined && link.isKnocking === true;
      return {
        sent,
        received: { ...received },
        replaced,
        isRestless: throttle.isRestless,
        failure,
        isUnwanted,
        version,
      };
    },
    close() {
      for (const peer of [...links.keys()]) remove(peer);
    },
  };
}

function add(sum: { frames: number; bytes: number }, more: StreamTraffic): void {
  sum.frames += more.frames;
  sum.bytes += more.bytes;
}

// A restless neighbour is slowed: after many frames only its latest one counts, once a second.

type FrameThrottle = ReturnType<typeof frameThrottle>;

export function frameThrottle(clock: Clock, onFrame: (frame: Uint8Array) => void) {
  let allowed = RESTLESS_FRAMES;
  let countedAt = clock.now();
  let waiting: Uint8Array | undefined;
  let cancel: (() => void) | undefined;
  let isRestless = false;

  const count = (frames: number) => {
    const now = clock.now();
    const more = ((now - countedAt) / 1000) * RESTLESS_FRAMES_PER_SECOND;
    allowed = Math.max(0, Math.min(RESTLESS_FRAMES, allowed + more) - frames);
    countedAt = now;
    // Halfway back: a neighbour at the edge is not named again and again.
    if (allowed > RESTLESS_FRAMES / 2) isRestless = false;
  };
  const passLatest = () => {
    cancel = undefined;
    const frame = waiting;
    waiting = undefined;
    if (frame !== undefined) onFrame(frame);
  };
  return {
    take(frame: Uint8Array) {
      count(1);
      if (allowed === 0) isRestless = true;
      // A frame that waits is older than this one.
      if (!isRestless && waiting === undefined) {
        onFrame(frame);
        return;
      }
      waiting = frame;
      cancel ??= clock.after(CALM_MILLISECONDS, passLatest);
    },
    /** Whether it is slowed now. */
    get isRestless() {
      count(0);
      return isRestless;
    },
    /** Forgets the frame that waits. */
    close() {
      waiting = undefined;
      cancel?.();
      cancel = undefined;
    },
  };
}
