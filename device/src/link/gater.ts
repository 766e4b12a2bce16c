// Whom a device lets in, and whom it lets carry something for it.

import type { ConnectionGater } from "@libp2p/interface";
import { relayOf } from "../peer.ts";
import type { LinkKeeper } from "./keeper.ts";

/** Peers are judged when they have proved who they are, before anything else is spoken with them. */
export function gater(
  keeper: LinkKeeper,
  onStranger: (peer: string, address: string) => void,
  proved: Set<string>,
  onAnswer: (peer: string) => void,
): ConnectionGater {
  return {
    // No stranger relays for this device.
    denyDialMultiaddr(address) {
      const relay = relayOf(address.toString());
      return relay !== undefined && !keeper.admits(relay);
    },
    denyDialPeer: (peer) => !keeper.admits(peer.toString()),
    denyOutboundConnection(peer) {
      onAnswer(peer.toString());
      return false;
    },
    denyOutboundEncryptedConnection(peer) {
      proved.add(peer.toString());
      return !keeper.admits(peer.toString());
    },
    denyInboundEncryptedConnection(peer, connection) {
      if (keeper.admits(peer.toString())) return false;
      onStranger(peer.toString(), connection.remoteAddr.toString());
      return true;
    },
    denyInboundRelayReservation: (peer) => !keeper.admits(peer.toString()),
    // As a relay: both ends must be linked.
    denyOutboundRelayedConnection: (from, to) => !keeper.admits(from.toString()) || !keeper.admits(to.toString()),
    // Who comes through a relay is only known when it has proved its key, and is judged then.
    denyInboundRelayedConnection: (relay) => !keeper.admits(relay.toString()),
  };
}
