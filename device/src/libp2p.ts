// The Network over js-libp2p: TCP and WebSocket, Noise, yamux, and nothing that talks past neighbours.

import type { Connection, Libp2p, Stream } from "@libp2p/interface";
import { peerIdFromString } from "@libp2p/peer-id";
import { multiaddr } from "@multiformats/multiaddr";
import { type Clock, realClock } from "./clock.ts";
import { addressBook, type MetAddresses } from "./link/addressBook.ts";
import { type LinkKeeper, type LinkTraffic, linkKeeper } from "./link/keeper.ts";
import {
  ANSWER_MILLISECONDS,
  ATTEMPT_MILLISECONDS,
  FIRST_RETRY_MILLISECONDS,
  LARGEST_FRAME_BYTES,
  LARGEST_WHERE_BYTES,
  MOST_PEER_CONNECTIONS,
  MOST_PROTOCOL_STREAMS,
  PING_ANSWER_MILLISECONDS,
} from "./link/limits.ts";
import { type SilenceWatch, silenceWatch } from "./link/silence.ts";
import { formatWhere, parseWhere } from "./link/where.ts";
import { NotLinkedBackError, OtherVersionError, type Wire, type WireListener, type Wires } from "./link/wire.ts";
import type { Network, NetworkListener } from "./network.ts";
import { createNode, gater, type NodeOptions, withoutPeer } from "./node.ts";
import type { Contact } from "./peer.ts";
import { provideWebSocket, provideWithResolvers } from "./platform.ts";
import { otherProtocols, PROTOCOLS, versionOf } from "./version.ts";

export { type Contact, createIdentity, type Identity } from "./peer.ts";
export { provideWithResolvers };

/** What a device calls its streams of the newest version, docs/protocol.md. */
export const [PROTOCOL] = PROTOCOLS;
/** And those on which it says where it listens. */
const WHERE_PROTOCOL = "/fedkm/where/1";
/** Asked for, and answered that nobody speaks it. */
const PING_PROTOCOL = "/fedkm/ping/1";

export interface Libp2pOptions extends NodeOptions {
  readonly links: readonly Contact[];
  /** Where others can dial it; none: as it listens. Linked peers are sent this. */
  readonly announce?: readonly string[];
  /** Where linked peers were met in an earlier run. */
  readonly met?: MetAddresses;
  /** A linked peer said that it is somewhere else than before: all that is worth remembering now. */
  readonly onMet?: (met: MetAddresses) => void;
  /** In bytes: a longer frame is refused. Default: the largest of the protocol. */
  readonly maxFrame?: number;
  /** A peer that is not linked proved who it is, and was sent away. */
  onStranger(peer: string, address: string): void;
  /** A linked peer broke the rules of the stream and is kept away for a while. */
  onRefuse(peer: string, reason: string): void;
  /** Names of the versions that are spoken, the newest first. Default: all that this program knows. */
  readonly protocols?: readonly string[];
  readonly clock?: Clock;
  readonly random?: () => number;
}

export interface Libp2pNetwork extends Network {
  /** Where it listens, with the ports that were free. */
  addresses(): string[];
  /** Links from now on: those that are gone are hung up. */
  setLinks(links: readonly Contact[]): void;
  /** Undefined for a peer that is not linked. */
  traffic(peer: string): LinkTraffic | undefined;
}

export function libp2pNetwork(options: Libp2pOptions): Libp2pNetwork {
  const { identity, clock = realClock, random = Math.random, maxFrame = LARGEST_FRAME_BYTES, onRefuse } = options;
  const { protocols = PROTOCOLS } = options;
  const book = addressBook(options.met ?? {});
  book.setLinks(options.links);
  /** Peers that proved their key in the attempt under way. */
  const proved = new Set<string>();
  /** When a peer was last tried because somebody nearby said where it is. */
  const triedNearby = new Map<string, number>();
  const silence = silenceWatch<Connection>(clock, async (connection) => {
    if (await isThere(connection)) silence.heard(connection);
    else connection.abort(new Error("no answer"));
  });
  let node: Libp2p | undefined;
  let keeper: LinkKeeper | undefined;

  const listening = () => node?.getMultiaddrs().map(withoutPeer) ?? [];
  const connections = (peer: string): Connection[] => node?.getConnections(peerIdFromString(peer)) ?? [];
  const connect = async (peer: string, signal: AbortSignal, wanted?: string): Promise<Connection> => {
    const known = connections(peer).filter(({ status }) => status === "open");
    // Of a peer that lost power the old connection seems open for a while.
    const chosen = known.find(({ id }) => id === wanted) ?? known.at(-1);
    if (chosen !== undefined) return chosen;
    const addresses = book.of(peer);
    if (node === undefined || addresses.length === 0) throw new Error("it has no address: it must find this device");
    return firstAnswer(node, { peer, addresses }, signal, (address) => book.failed(peer, address));
  };
  const wires: Wires = {
    async open(peer, listener, signal, wanted) {
      proved.delete(peer);
      try {
        const connection = await connect(peer, signal, wanted);
        const stream = await openStream(connection, protocols, signal);
        book.reached(peer);
        return attach(stream, connection, silence, () => listener);
      } catch (error) {
        const isOther = error instanceof OtherVersionError || isUnsupported(error);
        // It was there, it is who it should be, and it hung up: what it does to strangers.
        throw proved.has(peer) && !signal.aborted && !isOther ? new NotLinkedBackError() : error;
      }
    },
    hangUp(peer) {
      for (const connection of connections(peer)) connection.abort(new Error("hung up"));
    },
  };

  return {
    self: identity.peer,
    async start(listener: NetworkListener) {
      provideWithResolvers();
      await provideWebSocket();
      const keep = linkKeeper({ wires, listener, clock, maxFrame, random, onRefuse });
      const onNearby = (peer: string, addresses: readonly string[]) => {
        if (!book.nearby(peer, addresses)) return;
        // Anybody nearby can claim anything, as often as they like.
        const last = triedNearby.get(peer) ?? Number.NEGATIVE_INFINITY;
        if (clock.now() - last < FIRST_RETRY_MILLISECONDS) return;
        triedNearby.set(peer, clock.now());
        keep.wake(peer);
      };
      try {
        node = await createNode(options, gater(keep, options.onStranger, proved), onNearby);
      } catch (error) {
        const reason = /listen (E[A-Z]+)/.exec(String(error))?.[1] ?? String(error);
        throw new Error(`cannot listen on ${options.listen.join(", ")}: ${reason}`, { cause: error });
      }
      keeper = keep;
      await node.handle([...protocols], (stream, connection) => receive(keep, stream, connection, silence), {
        maxInboundStreams: MOST_PROTOCOL_STREAMS,
        maxOutboundStreams: MOST_PROTOCOL_STREAMS,
        runOnLimitedConnection: false,
      });
      node.addEventListener("connection:open", ({ detail }) => {
        const peer = detail.remotePeer.toString();
        silence.heard(detail);
        // One is enough; more are from before a restart, or of somebody who wants to have them all.
        for (const surplus of connections(peer).slice(0, -MOST_PEER_CONNECTIONS)) surplus.abort(new Error("too many"));
        keep.wake(peer, detail.direction === "inbound");
        void sayWhere(detail, options.announce ?? listening());
      });
      node.addEventListener("connection:close", ({ detail }) => silence.forget(detail));
      await node.handle(
        WHERE_PROTOCOL,
        (stream, { remotePeer }) =>
          hearWhere(stream, (addresses) => {
            if (book.met(remotePeer.toString(), addresses)) options.onMet?.(book.remembered());
          }),
        { maxInboundStreams: 1, maxOutboundStreams: 1 },
      );
      for (const peer of book.peers()) keep.add(peer);
    },
    send: (peer, frame) => keeper?.send(peer, frame),
    addresses: listening,
    setLinks(links) {
      for (const peer of book.setLinks(links)) keeper?.remove(peer);
      for (const { peer } of links) {
        keeper?.add(peer);
        // Its address may be new.
        keeper?.wake(peer);
      }
    },
    traffic: (peer) => keeper?.traffic(peer),
    async close() {
      silence.close();
      keeper?.close();
      keeper = undefined;
      await node?.stop();
    },
  };
}

/** Dials one address after the other; libp2p itself would spend all its patience on the first that says nothing. */
async function firstAnswer(
  node: Libp2p,
  { peer, addresses }: Contact,
  signal: AbortSignal,
  failed: (address: string) => void,
): Promise<Connection> {
  let failure: unknown;
  for (const address of addresses) {
    try {
      const patience = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MILLISECONDS)]);
      return await node.dial(multiaddr(address).encapsulate(`/p2p/${peer}`), { signal: patience });
    } catch (error) {
      failure = error;
      failed(address);
      if (signal.aborted) break;
    }
  }
  throw failure;
}

/** Any answer will do: that a protocol is not spoken is one as well. */
async function isThere(connection: Connection): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(PING_ANSWER_MILLISECONDS);
    const stream = await connection.newStream(PING_PROTOCOL, { signal });
    stream.abort(new Error("answered"));
    return true;
  } catch (error) {
    return isUnsupported(error);
  }
}

/** A stream of the newest version that both speak. Without any, it is found out which one the peer speaks. */
async function openStream(connection: Connection, protocols: readonly string[], signal: AbortSignal): Promise<Stream> {
  try {
    return await connection.newStream([...protocols], { signal });
  } catch (error) {
    if (!isUnsupported(error)) throw error;
    const stream = await connection.newStream(otherProtocols(protocols), { signal });
    stream.abort(new Error("another version"));
    throw new OtherVersionError(versionOf(stream.protocol));
  }
}

function isUnsupported(error: unknown): boolean {
  return error instanceof Error && error.name === "UnsupportedProtocolError";
}

/** A peer of an earlier version does not know the protocol, which does no harm. */
async function sayWhere(connection: Connection, addresses: readonly string[]): Promise<void> {
  const said = formatWhere(addresses);
  if (said === undefined) return;
  try {
    const stream = await connection.newStream(WHERE_PROTOCOL, { signal: AbortSignal.timeout(ATTEMPT_MILLISECONDS) });
    stream.send(said);
    await stream.close();
  } catch {
    // The next connection says it.
  }
}

function hearWhere(stream: Stream, onAddresses: (addresses: readonly string[]) => void): void {
  let heard = new Uint8Array(0);
  stream.addEventListener("message", ({ data }) => {
    if (heard.length + data.byteLength > LARGEST_WHERE_BYTES) stream.abort(new Error("too long"));
    else heard = Uint8Array.of(...heard, ...data.subarray());
  });
  stream.addEventListener("remoteCloseWrite", () => {
    const addresses = parseWhere(heard);
    if (addresses !== undefined) onAddresses(addresses);
    void stream.close().catch(() => {});
  });
}

function receive(keeper: LinkKeeper, stream: Stream, connection: Connection, silence: SilenceWatch<Connection>): void {
  attach(stream, connection, silence, (wire) => keeper.accept(connection.remotePeer.toString(), wire));
}

/** A libp2p stream as the keeper knows it; without a listener it is refused. */
function attach(
  stream: Stream,
  connection: Connection,
  silence: SilenceWatch<Connection>,
  listenerOf: (wire: Wire) => WireListener | undefined,
): Wire {
  const wire: Wire = {
    connection: connection.id,
    send(bytes) {
      // A stream that is closing says so by its close event, soon.
      if (stream.writeStatus === "writable") stream.send(bytes);
    },
    abort: (reason) => stream.abort(new Error(reason)),
  };
  const listener = listenerOf(wire);
  if (listener === undefined) {
    wire.abort("refused");
    return wire;
  }
  stream.addEventListener("message", ({ data }) => {
    silence.heard(connection);
    listener.onBytes(data.subarray());
  });
  stream.addEventListener("remoteCloseWrite", () => wire.abort("the other end closed"));
  stream.addEventListener("close", () => listener.onClose(), { once: true });
  if (stream.status !== "open") listener.onClose();
  return wire;
}
