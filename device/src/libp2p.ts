// The Network over js-libp2p: TCP and WebSocket, Noise, yamux, and nothing that talks past neighbours. The only file that imports libp2p.

import { generateKeyPair, privateKeyFromProtobuf, privateKeyToProtobuf } from "@libp2p/crypto/keys";
import type { Connection, ConnectionGater, Libp2p, Stream } from "@libp2p/interface";
import { noise } from "@libp2p/noise";
import { peerIdFromPrivateKey, peerIdFromString } from "@libp2p/peer-id";
import { tcp } from "@libp2p/tcp";
import { webSockets } from "@libp2p/websockets";
import { yamux } from "@libp2p/yamux";
import { multiaddr } from "@multiformats/multiaddr";
import { createLibp2p } from "libp2p";
import { type Clock, realClock } from "./clock.ts";
import { type LinkKeeper, type LinkTraffic, linkKeeper } from "./link/keeper.ts";
import {
  ANSWER_MILLISECONDS,
  HANDSHAKE_MILLISECONDS,
  HANDSHAKES_PER_SECOND,
  LARGEST_FRAME_BYTES,
  MOST_CONNECTIONS,
  MOST_DISCOVERED_ADDRESSES,
  MOST_EARLY_STREAMS,
  MOST_HANDSHAKES,
  MOST_PEER_CONNECTIONS,
  MOST_PROTOCOL_STREAMS,
  MOST_STREAMS,
  PING_ANSWER_MILLISECONDS,
  PING_MILLISECONDS,
} from "./link/limits.ts";
import type { Wire, WireListener, Wires } from "./link/wire.ts";
import type { Network, NetworkListener } from "./network.ts";
import { provideWebSocket, provideWithResolvers } from "./platform.ts";

export { provideWithResolvers };

/** What a device calls its streams, docs/protocol.md. */
export const PROTOCOL = "/fedkm/1";
const MDNS_SERVICE = "_fedkm._udp.local";

/** Who a device is: its name among peers, and the Ed25519 key (libp2p's protobuf) that proves it. */
export interface Identity {
  readonly peer: string;
  readonly key: Uint8Array;
}

/** A linked peer and where it may be found; none: it finds us. */
export interface Contact {
  readonly peer: string;
  readonly addresses: readonly string[];
}

export interface Libp2pOptions {
  readonly identity: Identity;
  /** Multiaddresses such as /ip4/0.0.0.0/tcp/4601 or /ip4/0.0.0.0/tcp/4602/ws; a browser has none. */
  readonly listen: readonly string[];
  readonly links: readonly Contact[];
  /** In bytes: a longer frame is refused. Default: the largest of the protocol. */
  readonly maxFrame?: number;
  /** A peer that is not linked proved who it is, and was sent away. */
  onStranger(peer: string, address: string): void;
  /** A linked peer broke the rules of the stream and is kept away for a while. */
  onRefuse(peer: string, reason: string): void;
  /** Says on the local network (mDNS) where this device is, and finds linked ones there. Default false. */
  readonly isDiscoverable?: boolean;
  /** Default both; a browser has WebSocket only. */
  readonly transports?: readonly ("tcp" | "websocket")[];
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

export async function createIdentity(): Promise<Identity> {
  const key = await generateKeyPair("Ed25519");
  return { peer: peerIdFromPrivateKey(key).toString(), key: privateKeyToProtobuf(key) };
}

/** The identity that a stored key stands for. Throws if it is no key. */
export function identityOf(key: Uint8Array): Identity {
  return { peer: peerIdFromPrivateKey(privateKeyFromProtobuf(key)).toString(), key };
}

/** Why this is no peer id, if it is none. */
export function peerFault(text: string): string | undefined {
  try {
    return peerIdFromString(text).type === "Ed25519" ? undefined : `must be of an Ed25519 key, got ${text}`;
  } catch {
    return `must be a peer id such as 12D3KooW..., got ${text}`;
  }
}

/** Why this is no address that a device can be dialled at, if it is none. */
export function addressFault(text: string): string | undefined {
  try {
    const parts = multiaddr(text).getComponents();
    const dialled = parts.some(({ name }) => name === "tcp") && parts.every(({ name }) => !name.startsWith("p2p"));
    return dialled ? undefined : `must have a tcp port, no peer and no relay, got ${text}`;
  } catch {
    return `must be a multiaddress such as /ip4/192.168.1.5/tcp/4601, got ${text}`;
  }
}

export function libp2pNetwork(options: Libp2pOptions): Libp2pNetwork {
  const { identity, clock = realClock, random = Math.random, maxFrame = LARGEST_FRAME_BYTES, onRefuse } = options;
  let addressBook = new Map(options.links.map(({ peer, addresses }) => [peer, addresses]));
  /** Where linked peers said they are, on the local network: the latest of each. */
  const discovered = new Map<string, readonly string[]>();
  let node: Libp2p | undefined;
  let keeper: LinkKeeper | undefined;

  const connections = (peer: string): Connection[] => node?.getConnections(peerIdFromString(peer)) ?? [];
  const connect = async (peer: string, signal: AbortSignal, wanted?: string): Promise<Connection> => {
    const known = connections(peer).filter(({ status }) => status === "open");
    // Of a peer that lost power the old connection seems open for a while.
    const chosen = known.find(({ id }) => id === wanted) ?? known.at(-1);
    if (chosen !== undefined) return chosen;
    const addresses = [...(addressBook.get(peer) ?? []), ...(discovered.get(peer) ?? [])];
    if (node === undefined || addresses.length === 0) throw new Error(`${peer} has no address: it must find us`);
    return firstAnswer(node, peer, addresses, signal);
  };
  const wires: Wires = {
    async open(peer, listener, signal, wanted) {
      const connection = await connect(peer, signal, wanted);
      const stream = await connection.newStream(PROTOCOL, { signal });
      return attach(stream, connection, () => listener);
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
      try {
        node = await createNode(options, gater(keep, options.onStranger));
      } catch (error) {
        const reason = /listen (E[A-Z]+)/.exec(String(error))?.[1] ?? String(error);
        throw new Error(`cannot listen on ${options.listen.join(", ")}: ${reason}`, { cause: error });
      }
      keeper = keep;
      await node.handle(PROTOCOL, (stream, connection) => receive(keep, stream, connection), {
        maxInboundStreams: MOST_PROTOCOL_STREAMS,
        maxOutboundStreams: MOST_PROTOCOL_STREAMS,
        runOnLimitedConnection: false,
      });
      node.addEventListener("connection:open", ({ detail }) => {
        const peer = detail.remotePeer.toString();
        // One is enough; more are from before a restart, or of somebody who wants to have them all.
        for (const surplus of connections(peer).slice(0, -MOST_PEER_CONNECTIONS)) surplus.abort(new Error("too many"));
        keep.wake(peer, detail.direction === "inbound");
      });
      node.addEventListener("peer:discovery", ({ detail }) => {
        const peer = detail.id.toString();
        if (!addressBook.has(peer)) return;
        discovered.set(peer, detail.multiaddrs.slice(0, MOST_DISCOVERED_ADDRESSES).map(withoutPeer));
        keep.wake(peer);
      });
      for (const peer of addressBook.keys()) keep.add(peer);
    },
    send: (peer, frame) => keeper?.send(peer, frame),
    addresses: () => node?.getMultiaddrs().map(withoutPeer) ?? [],
    setLinks(links) {
      const gone = [...addressBook.keys()].filter((peer) => !links.some((link) => link.peer === peer));
      addressBook = new Map(links.map(({ peer, addresses }) => [peer, addresses]));
      for (const peer of gone) {
        discovered.delete(peer);
        keeper?.remove(peer);
      }
      for (const { peer } of links) {
        keeper?.add(peer);
        // Its address may be new.
        keeper?.wake(peer);
      }
    },
    traffic: (peer) => keeper?.traffic(peer),
    async close() {
      keeper?.close();
      keeper = undefined;
      await node?.stop();
    },
  };
}

/** Dials one address after the other; libp2p itself would spend all its patience on the first that says nothing. */
async function firstAnswer(node: Libp2p, peer: string, addresses: readonly string[], signal: AbortSignal) {
  let failure: unknown;
  for (const address of addresses) {
    try {
      const patience = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MILLISECONDS)]);
      return await node.dial(multiaddr(address).encapsulate(`/p2p/${peer}`), { signal: patience });
    } catch (error) {
      failure = error;
      if (signal.aborted) break;
    }
  }
  throw failure;
}

function withoutPeer(address: { toString(): string }): string {
  return address.toString().replace(/\/p2p\/.*$/, "");
}

async function createNode(options: Libp2pOptions, connectionGater: ConnectionGater): Promise<Libp2p> {
  const { identity, listen, transports = ["tcp", "websocket"], isDiscoverable = false } = options;
  const discovery = isDiscoverable ? [(await import("@libp2p/mdns")).mdns({ serviceTag: MDNS_SERVICE })] : [];
  return createLibp2p({
    privateKey: privateKeyFromProtobuf(identity.key),
    addresses: { listen: [...listen] },
    transports: transports.map((kind) => (kind === "tcp" ? tcp() : webSockets())),
    connectionEncrypters: [noise()],
    streamMuxers: [
      yamux({
        maxInboundStreams: MOST_STREAMS,
        maxOutboundStreams: MOST_STREAMS,
        maxEarlyStreams: MOST_EARLY_STREAMS,
      }),
    ],
    connectionGater,
    peerDiscovery: discovery,
    connectionManager: {
      maxConnections: MOST_CONNECTIONS,
      maxIncomingPendingConnections: MOST_HANDSHAKES,
      inboundConnectionThreshold: HANDSHAKES_PER_SECOND,
      inboundUpgradeTimeout: HANDSHAKE_MILLISECONDS,
      // The keeper redials, at its own pace.
      reconnectRetries: 0,
    },
    connectionMonitor: { pingInterval: PING_MILLISECONDS, pingTimeout: { minTimeout: PING_ANSWER_MILLISECONDS } },
  });
}

/** Peers are judged when they have proved who they are, before anything else is spoken with them. */
function gater(keeper: LinkKeeper, onStranger: Libp2pOptions["onStranger"]): ConnectionGater {
  return {
    denyDialMultiaddr: () => false,
    denyDialPeer: (peer) => !keeper.admits(peer.toString()),
    denyOutboundEncryptedConnection: (peer) => !keeper.admits(peer.toString()),
    denyInboundEncryptedConnection(peer, connection) {
      if (keeper.admits(peer.toString())) return false;
      onStranger(peer.toString(), connection.remoteAddr.toString());
      return true;
    },
    denyInboundRelayReservation: () => true,
    denyInboundRelayedConnection: () => true,
    denyOutboundRelayedConnection: () => true,
  };
}

function receive(keeper: LinkKeeper, stream: Stream, connection: Connection): void {
  attach(stream, connection, (wire) => keeper.accept(connection.remotePeer.toString(), wire));
}

/** A libp2p stream as the keeper knows it; without a listener it is refused. */
function attach(stream: Stream, connection: Connection, listenerOf: (wire: Wire) => WireListener | undefined): Wire {
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
  stream.addEventListener("message", ({ data }) => listener.onBytes(data.subarray()));
  stream.addEventListener("remoteCloseWrite", () => wire.abort("the other end closed"));
  stream.addEventListener("close", () => listener.onClose(), { once: true });
  if (stream.status !== "open") listener.onClose();
  return wire;
}
