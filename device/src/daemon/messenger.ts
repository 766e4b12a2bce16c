// Neighbours that were away while a device changed its key: they only let the old key in. So the old key dials them, says
// nothing but whom it vouches for, and is not used any more when they have answered.

import type { Rotation } from "../disk/keyFiles.ts";
import type { Clock } from "../environment.ts";
import { keyExchange } from "../keys/exchange.ts";
import type { Contact, Identity } from "../keys/peer.ts";
import type { PeerAddresses } from "../links/addressBook.ts";
import { type Libp2pNetwork, libp2pNetwork } from "../links/libp2pNetwork.ts";

export interface MessengerOptions {
  readonly identity: Identity;
  /** Those that know the device by this id only. */
  readonly links: readonly Contact[];
  readonly met: PeerAddresses;
  readonly clock: Clock;
  rotation(): Rotation;
  /** The neighbour knows the device by this id. */
  onKnown(peer: string, id: string): void;
}

/** Dials until it is closed; it listens nowhere. */
export async function startMessenger(options: MessengerOptions): Promise<Pick<Libp2pNetwork, "setLinks" | "close">> {
  const { identity, links, met, clock, rotation, onKnown } = options;
  const ignored = () => {};
  const network = libp2pNetwork({ identity, listen: [], links, met, clock, onStranger: ignored, onRefuse: ignored });
  const exchange = keyExchange(network, clock, {
    successorsFor() {
      const { successors } = rotation();
      return successors.slice(successors.findIndex(({ old }) => old === identity.peer));
    },
    revocations: () => [],
    onConnect: ignored,
    follow: async () => undefined,
    onKnown,
    onRevocations: ignored,
  });
  // Everything else that neighbours say is for the device under its new key.
  await exchange.start({ onConnect: ignored, onDisconnect: ignored, onFrame: ignored });
  return { setLinks: (wanted) => network.setLinks(wanted), close: () => exchange.close() };
}
