// What a peer is: the key that proves who it is, its id, and the addresses at which it can be dialled.

import { generateKeyPair, privateKeyFromProtobuf, privateKeyToProtobuf, publicKeyFromRaw } from "@libp2p/crypto/keys";
import { peerIdFromPrivateKey, peerIdFromPublicKey, peerIdFromString } from "@libp2p/peer-id";
import { multiaddr } from "@multiformats/multiaddr";

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

export async function createIdentity(): Promise<Identity> {
  const key = await generateKeyPair("Ed25519");
  return { peer: peerIdFromPrivateKey(key).toString(), key: privateKeyToProtobuf(key) };
}

/** The identity that a stored key stands for. Throws if it is no key. */
export function identityOf(key: Uint8Array): Identity {
  return { peer: peerIdFromPrivateKey(privateKeyFromProtobuf(key)).toString(), key };
}

/** The 32 bytes of the public key that an id is made of. */
export function publicKeyOf(peer: string): Uint8Array {
  const { publicKey } = peerIdFromString(peer);
  if (publicKey?.type !== "Ed25519") throw new RangeError(`peer ${peerFault(peer)}`);
  return publicKey.raw;
}

/** The id that is made of these 32 bytes of a public key. */
export function peerOf(publicKey: Uint8Array): string {
  return peerIdFromPublicKey(publicKeyFromRaw(publicKey)).toString();
}

/** Why this is no peer id, if it is none. */
export function peerFault(text: string): string | undefined {
  try {
    return peerIdFromString(text).type === "Ed25519" ? undefined : `must be of an Ed25519 key, got ${text}`;
  } catch {
    return `must be a peer id such as 12D3KooW..., got ${text}`;
  }
}

/** Why this is no address that a device can listen on, if it is none. */
export function peerListenFault(text: string): string | undefined {
  try {
    const parts = multiaddr(text).getComponents();
    const isOurs = parts.some(({ name }) => name === "tcp") && parts.every(({ name }) => !name.startsWith("p2p"));
    return isOurs ? undefined : `must have a tcp port, no peer and no relay, got ${text}`;
  } catch {
    return `must be a multiaddress such as /ip4/192.168.1.5/tcp/4601, got ${text}`;
  }
}

/** Why this is no address that others can dial, if it is none: one to listen on may mean every interface or any port. */
export function peerDialFault(text: string): string | undefined {
  const fault = peerListenFault(text);
  if (fault !== undefined) return fault;
  return isOpen(text) ? `must have a host and a port that others can dial, got ${text}` : undefined;
}

/** Why this is no address at which a peer can be reached, if it is none: directly, or through a neighbour that relays. */
export function peerReachFault(text: string): string | undefined {
  const relay = peerRelay(text);
  return relay !== undefined && text === peerThroughRelay(relay) ? peerFault(relay) : peerDialFault(text);
}

/** Where a peer is that has a reservation at a relay. How to reach the relay is known: it must be linked. */
export function peerThroughRelay(relay: string): string {
  return `/p2p/${relay}/p2p-circuit`;
}

/** The relay that an address leads through, if it does. */
export function peerRelay(address: string): string | undefined {
  return /\/p2p\/([^/]+)\/p2p-circuit/.exec(address)?.[1];
}

/** Whether an address stands for every interface (0.0.0.0, ::) or for any free port (0). */
function isOpen(address: string): boolean {
  return /^\/ip4\/0\.0\.0\.0\/|^\/ip6\/[0:]+\/|\/tcp\/0(\/|$)/.test(address);
}
