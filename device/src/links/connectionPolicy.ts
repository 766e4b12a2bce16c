// Whom a device lets in, and whom it lets carry something for it.

import { peerRelay } from "../keys/peer.ts";

/** A peer or an address, as libp2p has it. */
interface Named {
  toString(): string;
}

/** Peers are judged when they have proved who they are, before anything else is spoken with them. */
export function connectionPolicy(
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
