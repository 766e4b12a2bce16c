// Whom a device lets in, and whom it lets carry something for it.

import { relayOf } from "../keys/peer.ts";
import type { LinkKeeper } from "./linkKeeper.ts";

/** A peer or an address, as libp2p has it. */
interface Named {
  toString(): string;
}

/** Peers are judged when they have proved who they are, before anything else is spoken with them. */
export function connectionPolicy(
  keeper: LinkKeeper,
  onStranger: (peer: string, address: string) => void,
  proved: Set<string>,
  onAnswer: (peer: string) => void,
) {
  return {
    // No stranger relays for this device.
    denyDialMultiaddr(address: Named) {
      const relay = relayOf(address.toString());
      return relay !== undefined && !keeper.admits(relay);
    },
    denyDialPeer: (peer: Named) => !keeper.admits(peer.toString()),
    denyOutboundConnection(peer: Named) {
      onAnswer(peer.toString());
      return false;
    },
    denyOutboundEncryptedConnection(peer: Named) {
      proved.add(peer.toString());
      return !keeper.admits(peer.toString());
    },
    denyInboundEncryptedConnection(peer: Named, connection: { readonly remoteAddr: Named }) {
      if (keeper.admits(peer.toString())) return false;
      onStranger(peer.toString(), connection.remoteAddr.toString());
      return true;
    },
    denyInboundRelayReservation: (peer: Named) => !keeper.admits(peer.toString()),
    // As a relay: both ends must be linked.
    denyOutboundRelayedConnection: (from: Named, to: Named) =>
      !keeper.admits(from.toString()) || !keeper.admits(to.toString()),
    // Who comes through a relay is only known when it has proved its key, and is judged then.
    denyInboundRelayedConnection: (relay: Named) => !keeper.admits(relay.toString()),
  };
}
