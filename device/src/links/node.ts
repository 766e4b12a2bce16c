// The libp2p node of a device: TCP and WebSocket, Noise, yamux, limits, and relays among neighbours.

import type {
  CircuitRelayServerComponents,
  CircuitRelayService,
  CircuitRelayTransportComponents,
} from "@libp2p/circuit-relay-v2";
import { privateKeyFromProtobuf } from "@libp2p/crypto/keys";
import {
  type Connection,
  type ConnectionGater,
  type PeerId,
  type Startable,
  type Stream,
  type StreamHandler,
  setMaxListeners,
  type Transport,
} from "@libp2p/interface";
import { noise } from "@libp2p/noise";
import { peerIdFromString } from "@libp2p/peer-id";
import { tcp } from "@libp2p/tcp";
import { webSockets } from "@libp2p/websockets";
import { yamux } from "@libp2p/yamux";
import { type Multiaddr, multiaddr } from "@multiformats/multiaddr";
import { createLibp2p } from "libp2p";
import { type Identity, peerRelay } from "../keys/peer.ts";
import * as limits from "../wire/limits.ts";
import { speaksProtocol } from "./dialling.ts";
import type { WebSocketSettings } from "./webSockets.ts";

// What libp2p expects of the platform and Node 20 lacks: Promise.withResolvers and WebSocket.

/** libp2p's handshake needs it. */
export function provideWithResolvers(): void {
  if ("withResolvers" in Promise) return;
  const value = <T>() => {
    let resolve: ((value: T | PromiseLike<T>) => void) | undefined;
    let reject: ((reason?: unknown) => void) | undefined;
    const promise = new Promise<T>((yes, no) => {
      resolve = yes;
      reject = no;
    });
    return { promise, resolve, reject };
  };
  Object.defineProperty(Promise, "withResolvers", { value, configurable: true, writable: true });
}

/** libp2p dials with the platform's own, unless it is given another way. */
async function provideWebSocket(): Promise<void> {
  if ("WebSocket" in globalThis) return;
  const { WebSocket } = await import("ws");
  Object.defineProperty(globalThis, "WebSocket", { value: WebSocket, configurable: true, writable: true });
}

const streamLimits = {
  maxInboundStreams: limits.MOST_STREAMS,
  maxOutboundStreams: limits.MOST_STREAMS,
  maxEarlyStreams: limits.MOST_EARLY_STREAMS,
};
/** Linux ends a connection on which ten such questions, a second apart, were not answered. */
const asked = { keepAlive: true, keepAliveInitialDelay: limits.KEEP_ALIVE_MILLISECONDS };
const asking = { dialOpts: asked, listenOpts: asked };
const MDNS_SERVICE = "_fedkm._udp.local";
/** Of libp2p's circuit relay v2: what a relay is asked, and how it brings somebody. */
const HOP_PROTOCOL = "/libp2p/circuit/relay/0.2.0/hop";
const STOP_PROTOCOL = "/libp2p/circuit/relay/0.2.0/stop";

export interface NodeOptions {
  readonly identity: Identity;
  /** Multiaddresses such as /ip4/0.0.0.0/tcp/4601 or /ip4/0.0.0.0/tcp/4602/ws; a browser has none. */
  readonly listen: readonly string[];
  /** Says on the local network (mDNS) where this device is, and finds linked ones there. Default false. */
  readonly isDiscoverable?: boolean;
  /** How WebSockets are opened and TLS is answered. Default: the platform's own, and not at all. */
  readonly webSockets?: WebSocketSettings;
  /** Default both; a browser has WebSocket only. */
  readonly transports?: readonly ("tcp" | "websocket")[];
  /** Relays between its linked peers. Default false. */
  readonly isRelay?: boolean;
  /** Learns every byte that it relays, as it passes it on. */
  readonly onRelayed?: (bytes: Uint8Array) => void;
}

/** What a relay carries for its linked peers. */
export interface RelayTraffic {
  /** Linked peers that are connected and can be reached through it. */
  readonly reservations: number;
  readonly circuits: number;
  /** Of all circuits since the start, both directions. */
  readonly bytes: number;
}

export type Node = Awaited<ReturnType<typeof createNode>>;

// Long: most of it is the settings of libp2p.
export async function createNode(
  options: NodeOptions,
  connectionGater: ConnectionGater,
  onNearby: (peer: string, addresses: readonly string[]) => void,
) {
  const { identity, listen, transports = ["tcp", "websocket"], isDiscoverable = false } = options;
  const discovery = isDiscoverable ? [await localDiscovery(onNearby)] : [];
  let bytes = 0;
  const onCarry = (carried: Carried) => {
    bytes += carried.byteLength;
    options.onRelayed?.(carried.subarray());
  };
  const relays = relayTransport();
  if (options.webSockets === undefined) await provideWebSocket();
  const services = options.isRelay ? { relay: await relayService(onCarry) } : {};
  const libp2p = await createLibp2p<{ relay?: CircuitRelayService }>({
    privateKey: privateKeyFromProtobuf(identity.key),
    addresses: { listen: [...listen] },
    transports: transports.map((kind) =>
      relays.beside(kind === "tcp" ? tcp(asking) : webSocketTransport(options.webSockets)),
    ),
    services,
    connectionEncrypters: [noise()],
    streamMuxers: [yamux(streamLimits)],
    connectionGater,
    peerDiscovery: discovery,
    connectionManager: {
      maxConnections: limits.MOST_CONNECTIONS,
      maxIncomingPendingConnections: limits.MOST_HANDSHAKES,
      inboundConnectionThreshold: limits.HANDSHAKES_PER_SECOND,
      inboundUpgradeTimeout: limits.HANDSHAKE_MILLISECONDS,
      // The keeper redials, at its own pace.
      reconnectRetries: 0,
    },
    // The keeper asks neighbours that are silent. Pings to all the others would cost more than everything else.
    connectionMonitor: { enabled: false },
  });
  return {
    libp2p,
    async dial(peer: string, address: string, signal: AbortSignal): Promise<Connection> {
      if (peerRelay(address) !== undefined) await relays.load();
      return libp2p.dial(multiaddr(address).encapsulate(`/p2p/${peer}`), { signal });
    },
    reserve: relays.reserve,
    /** Whether a neighbour relays to this device now. */
    isReserved: (peer: string) => relays.isReserved(peerIdFromString(peer)),
    /** Undefined: it does not relay. */
    relayTraffic(): RelayTraffic | undefined {
      const { relay } = libp2p.services;
      if (relay === undefined) return undefined;
      const streams = libp2p.getConnections().flatMap((connection) => connection.streams);
      const isCircuit = ({ protocol = "", direction = "" }) => protocol === STOP_PROTOCOL && direction === "outbound";
      const reserved = [...relay.reservations.keys()].filter((peer) => libp2p.getConnections(peer).length > 0);
      return { reservations: reserved.length, circuits: streams.filter(isCircuit).length, bytes };
    },
    async stop() {
      await relays.stop();
      await libp2p.stop();
    },
  };
}

/** The library's transport, with its way to open a socket. Its type is not exported. */
interface WebSocketTransport extends Transport {
  _connect(address: Multiaddr, options: { readonly signal: AbortSignal }): Promise<WebSocket>;
}

function webSocketTransport(settings: WebSocketSettings | undefined) {
  const make = webSockets(settings?.certificate === undefined ? {} : { https: { ...settings.certificate } });
  return (components: Parameters<typeof make>[0]): Transport => {
    const transport = make(components) as WebSocketTransport;
    if (settings !== undefined) {
      transport._connect = (address, { signal }) => openedSocket(settings.connect(webSocketUrl(address)), signal);
    }
    return transport;
  };
}

function webSocketUrl(address: Multiaddr): string {
  const parts = address.getComponents();
  const [{ name, value: host = "" }] = parts;
  const port = parts.find((part) => part.name === "tcp")?.value;
  const isSecure = parts.some((part) => part.name === "tls" || part.name === "wss");
  return `${isSecure ? "wss" : "ws"}://${name === "ip6" ? `[${host}]` : host}:${port}`;
}

/** Rejects with the reason why it did not open. */
function openedSocket(socket: WebSocket, signal: AbortSignal): Promise<WebSocket> {
  socket.binaryType = "arraybuffer";
  return new Promise((resolve, reject) => {
    const abort = () => {
      socket.close();
      reject(signal.reason);
    };
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    const fail = ({ message = "the WebSocket could not be opened" }: Event & { readonly message?: string }) =>
      reject(new Error(message));
    socket.addEventListener("error", fail, { once: true });
    socket.addEventListener("open", () => {
      signal.removeEventListener("abort", abort);
      resolve(socket);
    });
  });
}

/** The library's transport, with its own list of reservations. Its type is not exported. */
interface RelayTransport extends Transport, Startable {
  readonly reservationStore: {
    addRelay(peer: PeerId, type: "configured"): Promise<unknown>;
    hasReservation(peer: PeerId): boolean;
  };
}

/**
 * Reaches devices through relays, and is reached through those that were asked. Nobody is looked for, or asked unbidden.
 * The library is loaded with the first relay: most devices never have one.
 */
function relayTransport() {
  let components: CircuitRelayTransportComponents | undefined;
  let transport: RelayTransport | undefined;
  let loading: Promise<RelayTransport> | undefined;
  const isReserved = (peer: PeerId) => transport?.reservationStore.hasReservation(peer) ?? false;
  const make = async () => {
    const { circuitRelayTransport } = await import("@libp2p/circuit-relay-v2");
    if (components === undefined) throw new Error("a node must be made before a relay is used");
    // A neighbour that was not asked to relay brings nobody.
    const isAsked = handling(components, (handler) => (stream, connection) => {
      if (isReserved(connection.remotePeer)) return handler(stream, connection);
      return stream.abort(new Error("no reservation"));
    });
    transport = circuitRelayTransport({
      maxInboundStopStreams: limits.MOST_CIRCUITS,
      maxOutboundStopStreams: limits.MOST_CIRCUITS,
      reservationConcurrency: limits.MOST_LINKS,
      discoveryFilter: { has: () => true, add: () => {}, remove: () => {} },
    })(isAsked) as RelayTransport;
    components.transportManager.add(transport);
    await transport.start();
    return transport;
  };
  const load = () => (loading ??= make());
  return {
    /** Makes another transport, and learns what it is made of. */
    beside<T extends object>(factory: (parts: T) => Transport) {
      return (parts: T & CircuitRelayTransportComponents) => {
        components = parts;
        return factory(parts);
      };
    },
    load,
    /** Asks a neighbour to relay to this device. False: it relays to nobody. */
    async reserve(connection: Connection): Promise<boolean> {
      // Before the library asks, because it never again asks a peer that once did not relay.
      if (!(await speaksProtocol(connection, HOP_PROTOCOL, limits.ATTEMPT_MILLISECONDS))) return false;
      const { reservationStore } = await load();
      await reservationStore.addRelay(connection.remotePeer, "configured");
      return true;
    },
    isReserved,
    stop: async () => transport?.stop(),
  };
}

type Carried = { readonly byteLength: number; subarray(): Uint8Array };

async function relayService(onCarry: (carried: Carried) => void) {
  const { circuitRelayServer } = await import("@libp2p/circuit-relay-v2");
  const serve = circuitRelayServer({
    hopTimeout: limits.ATTEMPT_MILLISECONDS,
    maxInboundHopStreams: limits.MOST_CIRCUITS,
    maxOutboundStopStreams: limits.MOST_CIRCUITS,
    reservations: {
      maxReservations: limits.MOST_LINKS,
      reservationTtl: limits.RESERVATION_MILLISECONDS,
      defaultDurationLimit: limits.CIRCUIT_MILLISECONDS,
      defaultDataLimit: BigInt(limits.CIRCUIT_BYTES),
    },
  });
  return (components: CircuitRelayServerComponents) => {
    const wrap = (handler: StreamHandler) => async (stream: Stream, connection: Connection) => {
      // The handler must listen first: what comes before anybody listens is kept.
      const handled = handler(stream, connection);
      const send = stream.send.bind(stream);
      // What is sent first is the relay's own answer. All else belongs to the circuit.
      let isCircuit = false;
      stream.send = (bytes) => {
        if (isCircuit) onCarry(bytes);
        isCircuit = true;
        return send(bytes);
      };
      stream.addEventListener("message", ({ data }) => isCircuit && onCarry(data));
      await handled;
      // Every circuit waits for its end; Node would warn of a leak.
      const reservation = server.reservations.get(connection.remotePeer);
      if (reservation !== undefined) setMaxListeners(Number.POSITIVE_INFINITY, reservation.signal);
    };
    const server = serve(handling(components, wrap));
    return server;
  };
}

/** What a part of libp2p is made of, with its handlers of streams wrapped. Middleware of libp2p 3.2 piles up. */
function handling<T extends Pick<CircuitRelayServerComponents, "registrar">>(
  components: T,
  wrap: (handler: StreamHandler) => StreamHandler,
): T {
  const { registrar } = components;
  const handle: typeof registrar.handle = (protocol, handler, options) =>
    registrar.handle(protocol, wrap(handler), options);
  const wrapped = Object.create(registrar, { handle: { value: handle } });
  return Object.create(components, { registrar: { value: wrapped } });
}

/** libp2p itself says only once that it discovered a peer, and nothing when the peer has moved since. */
async function localDiscovery(onNearby: (peer: string, addresses: readonly string[]) => void) {
  const { mdns } = await import("@libp2p/mdns");
  return (components: Parameters<ReturnType<typeof mdns>>[0]) => {
    const discovery = mdns({ serviceTag: MDNS_SERVICE })(components);
    discovery.addEventListener("peer", ({ detail }) =>
      onNearby(detail.id.toString(), detail.multiaddrs.map(nodeAddress)),
    );
    return discovery;
  };
}

export function nodeAddress(address: { toString(): string }): string {
  return address.toString().replace(/\/p2p\/.*$/, "");
}
