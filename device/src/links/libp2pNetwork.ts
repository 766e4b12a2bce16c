// The PeerNetwork over js-libp2p: TCP and WebSocket, Noise, yamux, and nothing that talks past neighbours.

import type { Connection, Stream } from "@libp2p/interface";
import { peerIdFromString } from "@libp2p/peer-id";
import { type Clock, type NetworkListener, type PeerNetwork, realClock, reasonOf } from "../environment.ts";
import { type Contact, peerRelay, peerThroughRelay } from "../keys/peer.ts";
import { PROTOCOL } from "../wire/frames.ts";
import * as limits from "../wire/limits.ts";
import { PING_MILLISECONDS, SILENCE_LOOK_MILLISECONDS } from "../wire/limits.ts";
import { addressBook, type PeerAddresses } from "./addressBook.ts";
import { ADDRESSES_PROTOCOL, receiveAddresses, sendAddresses } from "./announcedAddresses.ts";
import { dialInTurn, dialQueue, isUnsupportedByLibp2p, openStream, speaksProtocol } from "./dialling.ts";
import {
  type ByteStream,
  type LinkKeeper,
  linkKeeper,
  NotLinkedBackError,
  OtherVersionError,
  type StreamListener,
  type StreamTransport,
} from "./linkKeeper.ts";
import { createNode, type Node, type NodeOptions, nodeAddress, provideWithResolvers } from "./node.ts";
import { relays } from "./relays.ts";

export { pageSecrets } from "../keys/pageSecrets.ts";
export { type Contact, createIdentity, type Identity } from "../keys/peer.ts";
export { PROTOCOL } from "../wire/frames.ts";
export type { RelayTraffic } from "./node.ts";
export { provideWithResolvers };

/** Asked for, and answered that nobody speaks it. */
const PING_PROTOCOL = "/fedkm/ping/1";

/** What a network over libp2p is made of. */
export interface Libp2pOptions extends NodeOptions {
  /** The neighbours, with their addresses and keys. */
  readonly links: readonly Contact[];
  /** Where others can dial it; none: as it listens. Linked peers are sent this. */
  readonly announce?: readonly string[];
  /** Where linked peers were met in an earlier run. */
  readonly peerAddresses?: PeerAddresses;
  /** A linked peer said that it is somewhere else than before: all that is worth remembering now. */
  readonly onPeerAddresses?: (addresses: PeerAddresses) => void;
  /** In bytes: a longer frame is refused. Default: the largest of the protocol. */
  readonly maxFrame?: number;
  /** A peer that is not linked proved who it is, and was sent away. */
  onStranger(peer: string, address: string): void;
  /** A linked peer broke the rules of the stream and is kept away for a while. */
  onRefuse(peer: string, reason: string): void;
  /** What streams are called. Default: as in the version of this program. */
  readonly protocol?: string;
  /** Time and timers; those of the host by default. */
  readonly clock?: Clock;
  /** Spreads out retries; numbers from 0 to 1. */
  readonly random?: () => number;
}

/** A network of real connections. */
export type Libp2pNetwork = ReturnType<typeof libp2pNetwork>;

// Long: one closure over the node, the keeper and the address book, which call each other.
/** A network of real connections over libp2p. */
export function libp2pNetwork(options: Libp2pOptions) {
  const { identity, clock = realClock, maxFrame = limits.LARGEST_FRAME_BYTES, onRefuse } = options;
  const { protocol = PROTOCOL } = options;
  const book = addressBook(options.peerAddresses ?? {});
  book.setLinks(options.links);
  const dialling = dialQueue(clock);
  /** Peers that proved their key in the attempt under way. */
  const proved = new Set<string>();
  /** Peers whose machine stopped to answer while they were connected. */
  const vanished = new Set<string>();
  /** When a peer was last tried because somebody nearby said where it is. */
  const triedNearby = new Map<string, number>();
  const silence = silenceWatch<Connection>(clock, async (connection) => {
    if (await isThere(connection)) silence.heard(connection);
    else connection.abort(new Error("no answer"));
  });
  let node: Node | undefined;
  let keeper: LinkKeeper | undefined;
  // Whoever relays, or says where it can be dialled, needs no relay itself.
  const isAsking = options.isRelay !== true && options.announce === undefined;

  const connections = (peer: string): Connection[] => node?.libp2p.getConnections(peerIdFromString(peer)) ?? [];
  const open = (peer: string) => connections(peer).filter(({ status }) => status === "open");
  const direct = (peer: string) => open(peer).findLast((connection) => connection.direct);
  const relayed = (peer: string) => open(peer).filter((connection) => !connection.direct);
  const reach = async (peer: string, addresses: readonly string[], signal: AbortSignal) => {
    const from = node;
    if (from === undefined || addresses.length === 0)
      throw new Error("it must dial this device, so it is off, cut off, or has unlinked this one");
    return dialInTurn({
      addresses,
      signal,
      dial: (address, patience) => dialling.dial(peer, patience, (signal) => from.dial(peer, address, signal)),
      isDirect: (relay) => book.has(relay) && direct(relay) !== undefined,
      onFailure: (address) => book.failed(peer, address),
    });
  };
  const tryDirectly = async (peer: string) => {
    const addresses = book.of(peer).filter((address) => peerRelay(address) === undefined);
    // The relay stays the way until there is another.
    await reach(peer, addresses, AbortSignal.timeout(limits.ATTEMPT_MILLISECONDS)).catch(() => {});
  };
  const helpers = relays({
    clock,
    async reserve(peer) {
      const connection = direct(peer);
      return node !== undefined && connection !== undefined && (await node.reserve(connection));
    },
    isReserved: (peer) => node?.isReserved(peer) ?? false,
    onReserved(relay) {
      for (const connection of node?.libp2p.getConnections() ?? []) void sendAddresses(connection, announced());
      for (const peer of book.peers()) if (book.of(peer).includes(peerThroughRelay(relay))) keeper?.wake(peer);
    },
    relayedPeers: () => book.peers().filter((peer) => relayed(peer).length > 0),
    tryDirectly,
  });
  const listening = () => [...(node?.libp2p.getMultiaddrs().map(nodeAddress) ?? []), ...helpers.addresses()];
  const announced = () => options.announce ?? listening();
  const connect = async (peer: string, signal: AbortSignal, wanted?: string): Promise<Connection> => {
    const known = open(peer);
    // Of a peer that lost power the old connection seems open for a while.
    const chosen = known.find(({ id }) => id === wanted) ?? known.at(-1);
    return chosen ?? reach(peer, book.of(peer), signal);
  };
  const transport: StreamTransport = {
    async open(peer, listener, signal, wanted) {
      proved.delete(peer);
      try {
        const connection = await connect(peer, signal, wanted);
        const stream = await openStream(connection, protocol, signal);
        // A relay says nothing about addresses that failed.
        if (connection.direct) book.reached(peer);
        return attach(stream, connection, silence.heard, () => listener);
      } catch (error) {
        // Its machine is there, and only the program is not.
        if (reasonOf(error).includes("ECONNREFUSED")) vanished.delete(peer);
        const isOther = error instanceof OtherVersionError || isUnsupportedByLibp2p(error);
        // It was there, it is who it should be, and it hung up: what it does to strangers.
        throw proved.has(peer) && !signal.aborted && !isOther ? new NotLinkedBackError() : error;
      }
    },
    hangUp(peer) {
      for (const connection of connections(peer)) connection.abort(new Error("hung up"));
    },
  };

  const onConnection = (keep: LinkKeeper, connection: Connection) => {
    const peer = connection.remotePeer.toString();
    silence.heard(connection);
    vanished.delete(peer);
    connection.addEventListener("close", ({ error }) => {
      if (error !== undefined && "code" in error && error.code === "ETIMEDOUT" && open(peer).length === 0) {
        vanished.add(peer);
      }
    });
    // One is enough; more are from before a restart, or of somebody who wants to have them all.
    for (const surplus of connections(peer).slice(0, -limits.MOST_PEER_CONNECTIONS))
      surplus.abort(new Error("too many"));
    if (connection.direct) {
      for (const roundabout of relayed(peer)) roundabout.abort(new Error("a direct connection stands"));
      if (isAsking) helpers.ask(peer);
    } else helpers.look();
    keep.wake(peer, connection.direction === "inbound");
    void sendAddresses(connection, announced());
  };
  const onNearby = (keep: LinkKeeper, peer: string, addresses: readonly string[]) => {
    if (!book.nearby(peer, addresses)) return;
    // Anybody nearby can claim anything, as often as they like.
    const last = triedNearby.get(peer) ?? Number.NEGATIVE_INFINITY;
    if (clock.now() - last < limits.FIRST_RETRY_MILLISECONDS) return;
    triedNearby.set(peer, clock.now());
    keep.wake(peer);
  };

  const network: PeerNetwork = {
    self: identity.peer,
    async start(listener: NetworkListener) {
      provideWithResolvers();
      const keep = linkKeeper({
        transport,
        listener,
        clock,
        maxFrame,
        random: options.random ?? Math.random,
        onRefuse,
      });
      const policy = connectionPolicy(keep.admits, options.onStranger, proved, dialling.answered);
      try {
        node = await createNode(options, policy, (peer, addresses) => onNearby(keep, peer, addresses));
      } catch (error) {
        const reason = /listen (E[A-Z]+)/.exec(String(error))?.[1] ?? String(error);
        throw new Error(`cannot listen on ${options.listen.join(", ")}: ${reason}`, { cause: error });
      }
      keeper = keep;
      const { libp2p } = node;
      const onStream = (stream: Stream, connection: Connection) => {
        const accept = (attached: ByteStream) => keep.accept(connection.remotePeer.toString(), attached);
        attach(stream, connection, silence.heard, accept);
      };
      await libp2p.handle(protocol, onStream, atMost(limits.MOST_PROTOCOL_STREAMS));
      libp2p.addEventListener("connection:open", ({ detail }) => onConnection(keep, detail));
      libp2p.addEventListener("connection:close", ({ detail }) => {
        const peer = detail.remotePeer.toString();
        silence.forget(detail);
        if (direct(peer) === undefined) helpers.forget(peer);
      });
      const onAddresses = (stream: Stream, { remotePeer }: Connection) =>
        receiveAddresses(stream, (addresses) => {
          if (book.met(remotePeer.toString(), addresses)) options.onPeerAddresses?.(book.remembered());
        });
      await libp2p.handle(ADDRESSES_PROTOCOL, onAddresses, atMost(2));
      for (const peer of book.peers()) keep.add(peer);
    },
    send: (peer, frame) => keeper?.send(peer, frame),
    async close() {
      helpers.close();
      silence.close();
      keeper?.close();
      keeper = undefined;
      await node?.stop();
    },
  };
  return {
    ...network,
    /** Where it listens, with the ports that were free, and through whom it can be reached. */
    addresses: listening,
    /** Links from now on: those that are gone are hung up. */
    setLinks(links: readonly Contact[]) {
      for (const peer of book.setLinks(links)) keeper?.remove(peer);
      for (const { peer } of links) {
        keeper?.add(peer);
        // Its address may be new.
        keeper?.wake(peer);
        if (relayed(peer).length > 0) void tryDirectly(peer);
      }
    },
    /** Undefined for a peer that is not linked. */
    traffic: (peer: string) => keeper?.traffic(peer),
    /** How a linked peer is reached. Relays are linked peers as well. */
    route(peer: string) {
      const isDirect = direct(peer) !== undefined;
      const named = book.of(peer).flatMap((address) => peerRelay(address) ?? []);
      return {
        /** Its machine stopped to answer while it was connected, and nobody has heard it since. */
        isVanished: vanished.has(peer),
        /** The relay that its link runs through now, if it does. */
        via: isDirect ? undefined : peerRelay(relayed(peer).at(-1)?.remoteAddr.toString() ?? ""),
        /** Those through which it says that it can be reached. */
        relays: named.filter(book.has),
        /** Whether it relays to others, as far as is known. */
        isRelay: isAsking ? (node?.isReserved(peer) ?? false) : isDirect,
      };
    },
    /** Undefined: it does not relay. */
    relayTraffic: () => node?.relayTraffic(),
  };
}

/** So many streams of a protocol each way. */
function atMost(streams: number) {
  return { maxInboundStreams: streams, maxOutboundStreams: streams, runOnLimitedConnection: true };
}

/** Any answer will do: that a protocol is not spoken is one as well. */
async function isThere(connection: Connection): Promise<boolean> {
  try {
    await speaksProtocol(connection, PING_PROTOCOL, limits.PING_ANSWER_MILLISECONDS);
    return true;
  } catch {
    return false;
  }
}

/** A libp2p stream as the keeper knows it; without a listener it is refused. */
function attach(
  stream: Stream,
  connection: Connection,
  onHeard: (connection: Connection) => void,
  listenerOf: (attached: ByteStream) => StreamListener | undefined,
): ByteStream {
  const attached: ByteStream = {
    connection: connection.id,
    send(bytes) {
      // A stream that is closing says so by its close event, soon.
      if (stream.writeStatus === "writable") stream.send(bytes);
    },
    abort: (reason) => stream.abort(new Error(reason)),
  };
  const listener = listenerOf(attached);
  if (listener === undefined) {
    attached.abort("refused");
    return attached;
  }
  stream.addEventListener("message", ({ data }) => {
    onHeard(connection);
    listener.onBytes(data.subarray());
  });
  stream.addEventListener("remoteCloseWrite", () => attached.abort("the other end closed"));
  stream.addEventListener("close", () => listener.onClose(), { once: true });
  if (stream.status !== "open") listener.onClose();
  return attached;
}

// Who has said nothing for long: one look for all of them now and then, instead of a timer for each.

/** `onSilent` is called at every look, until something is heard. */
export function silenceWatch<T>(clock: Clock, onSilent: (who: T) => void) {
  const heardAt = new Map<T, number>();
  let cancel: (() => void) | undefined;
  const look = () => {
    cancel = heardAt.size > 0 ? clock.after(SILENCE_LOOK_MILLISECONDS, look) : undefined;
    for (const [who, at] of heardAt) if (clock.now() - at >= PING_MILLISECONDS) onSilent(who);
  };
  return {
    /** Something came from there just now. */
    heard(who: T) {
      heardAt.set(who, clock.now());
      cancel ??= clock.after(SILENCE_LOOK_MILLISECONDS, look);
    },
    forget: (who: T) => heardAt.delete(who),
    close() {
      heardAt.clear();
      cancel?.();
    },
  };
}

// Whom a device lets in, and whom it lets carry something for it.

/** A peer or an address, as libp2p has it. */
interface Named {
  toString(): string;
}

/** Peers are judged when they have proved who they are, before anything else is spoken with them. */
function connectionPolicy(
  isLinked: (peer: string) => boolean,
  onStranger: (peer: string, address: string) => void,
  proved: Set<string>,
  onAnswer: (peer: string) => void,
) {
  const isStranger = (peer: Named) => !isLinked(peer.toString());
  return {
    // No stranger relays for this device.
    denyDialMultiaddr(address: Named) {
      const relay = peerRelay(address.toString());
      return relay !== undefined && isStranger(relay);
    },
    denyDialPeer: isStranger,
    denyOutboundConnection(peer: Named) {
      onAnswer(peer.toString());
      return false;
    },
    denyOutboundEncryptedConnection(peer: Named) {
      proved.add(peer.toString());
      return isStranger(peer);
    },
    denyInboundEncryptedConnection(peer: Named, connection: { readonly remoteAddr: Named }) {
      if (!isStranger(peer)) return false;
      onStranger(peer.toString(), connection.remoteAddr.toString());
      return true;
    },
    denyInboundRelayReservation: isStranger,
    // As a relay: both ends must be linked.
    denyOutboundRelayedConnection: (from: Named, to: Named) => isStranger(from) || isStranger(to),
    // Who comes through a relay is only known when it has proved its key, and is judged then.
    denyInboundRelayedConnection: isStranger,
  };
}
