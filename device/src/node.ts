// The libp2p node of a device: TCP and WebSocket, Noise, yamux, limits, whom it lets in, and nothing past neighbours.

import { privateKeyFromProtobuf } from "@libp2p/crypto/keys";
import type { ConnectionGater, Libp2p } from "@libp2p/interface";
import { noise } from "@libp2p/noise";
import { tcp } from "@libp2p/tcp";
import { webSockets } from "@libp2p/websockets";
import { yamux } from "@libp2p/yamux";
import { createLibp2p } from "libp2p";
import type { LinkKeeper } from "./link/keeper.ts";
import {
  HANDSHAKE_MILLISECONDS,
  HANDSHAKES_PER_SECOND,
  MOST_CONNECTIONS,
  MOST_EARLY_STREAMS,
  MOST_HANDSHAKES,
  MOST_STREAMS,
} from "./link/limits.ts";
import type { Identity } from "./peer.ts";

const MDNS_SERVICE = "_fedkm._udp.local";

export interface NodeOptions {
  readonly identity: Identity;
  /** Multiaddresses such as /ip4/0.0.0.0/tcp/4601 or /ip4/0.0.0.0/tcp/4602/ws; a browser has none. */
  readonly listen: readonly string[];
  /** Says on the local network (mDNS) where this device is, and finds linked ones there. Default false. */
  readonly isDiscoverable?: boolean;
  /** Default both; a browser has WebSocket only. */
  readonly transports?: readonly ("tcp" | "websocket")[];
}

export async function createNode(
  options: NodeOptions,
  connectionGater: ConnectionGater,
  onNearby: (peer: string, addresses: readonly string[]) => void,
): Promise<Libp2p> {
  const { identity, listen, transports = ["tcp", "websocket"], isDiscoverable = false } = options;
  const discovery = isDiscoverable ? [await localDiscovery(onNearby)] : [];
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
    // The keeper asks neighbours that are silent. Pings to all the others would cost more than everything else.
    connectionMonitor: { enabled: false },
  });
}

/** libp2p itself says only once that it discovered a peer, and nothing when the peer has moved since. */
async function localDiscovery(onNearby: (peer: string, addresses: readonly string[]) => void) {
  const { mdns } = await import("@libp2p/mdns");
  return (components: Parameters<ReturnType<typeof mdns>>[0]) => {
    const discovery = mdns({ serviceTag: MDNS_SERVICE })(components);
    discovery.addEventListener("peer", ({ detail }) =>
      onNearby(detail.id.toString(), detail.multiaddrs.map(withoutPeer)),
    );
    return discovery;
  };
}

/** Peers are judged when they have proved who they are, before anything else is spoken with them. */
export function gater(
  keeper: LinkKeeper,
  onStranger: (peer: string, address: string) => void,
  proved: Set<string>,
): ConnectionGater {
  return {
    denyDialMultiaddr: () => false,
    denyDialPeer: (peer) => !keeper.admits(peer.toString()),
    denyOutboundEncryptedConnection(peer) {
      proved.add(peer.toString());
      return !keeper.admits(peer.toString());
    },
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

export function withoutPeer(address: { toString(): string }): string {
  return address.toString().replace(/\/p2p\/.*$/, "");
}
