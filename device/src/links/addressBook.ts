// Where linked peers may be found: as their owner wrote it down, where they were last met, and what they say nearby.

import { type Contact, peerRelay } from "../keys/peer.ts";
import { MOST_MET_ADDRESSES } from "../wire/limits.ts";

/** Where linked peers were last met, by peer: what is remembered between starts. */
export type PeerAddresses = Readonly<Record<string, readonly string[]>>;

interface AddressEntry {
  linked: readonly string[];
  met: readonly string[];
  nearby: readonly string[];
  readonly failures: Map<string, number>;
}

/** `remembered`: of an earlier start. */
export function addressBook(remembered: PeerAddresses) {
  const entries = new Map<string, AddressEntry>();
  const replace = (peer: string, kind: "met" | "nearby", addresses: readonly string[]) => {
    const entry = entries.get(peer);
    const kept = addresses.slice(0, MOST_MET_ADDRESSES);
    if (entry === undefined || String(entry[kind]) === String(kept)) return false;
    entry[kind] = kept;
    // A count for every address that was ever claimed would grow for ever.
    for (const address of entry.failures.keys()) if (!known(entry).has(address)) entry.failures.delete(address);
    return true;
  };
  return {
    has: (peer: string) => entries.has(peer),
    peers: () => [...entries.keys()],
    /** All that is known about one peer, the address that failed least often first, and direct ones before relays. */
    of(peer: string): string[] {
      const entry = entries.get(peer);
      if (entry === undefined) return [];
      const failures = (address: string) => entry.failures.get(address) ?? 0;
      const isRelayed = (address: string) => Number(peerRelay(address) !== undefined);
      return [...known(entry)].sort((a, b) => failures(a) - failures(b) || isRelayed(a) - isRelayed(b));
    },
    /** Those that are not named any more are forgotten. Returns them. */
    setLinks(links: Iterable<Contact>): string[] {
      const gone = new Set(entries.keys());
      for (const { peer, addresses } of links) {
        gone.delete(peer);
        const entry = entries.get(peer);
        if (entry !== undefined) entry.linked = addresses;
        else {
          const met = (remembered[peer] ?? []).slice(0, MOST_MET_ADDRESSES);
          entries.set(peer, { linked: addresses, met, nearby: [], failures: new Map() });
        }
      }
      for (const peer of gone) entries.delete(peer);
      return [...gone];
    },
    failed(peer: string, address: string) {
      const failures = entries.get(peer)?.failures;
      failures?.set(address, (failures.get(address) ?? 0) + 1);
    },
    /** The peer was reached. What failed before may have been its network. */
    reached: (peer: string) => entries.get(peer)?.failures.clear(),
    /** A peer that has proved its key says where it listens. Returns whether that is news. */
    met: (peer: string, addresses: readonly string[]) => replace(peer, "met", addresses),
    /** Somebody on the local network says that the peer is there. Returns whether that is news. */
    nearby: (peer: string, addresses: readonly string[]) => replace(peer, "nearby", addresses),
    /** What is worth remembering between starts. */
    remembered: (): PeerAddresses =>
      Object.fromEntries([...entries].filter(([, { met }]) => met.length > 0).map(([peer, { met }]) => [peer, met])),
  };
}

/** The owner's word comes first: what others say may be a lie, and the key decides. */
function known({ linked, met, nearby }: AddressEntry): Set<string> {
  return new Set([...linked, ...met, ...nearby]);
}
