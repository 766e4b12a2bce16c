// Links whose neighbour goes on under a new key: the link follows, the ids before are remembered, and the last of them
// may still connect until the neighbour has been met under the new one.

import type { Link } from "../disk/linksFile.ts";
import type { Contact } from "./peer.ts";
import { latestOf, type Successor } from "./successor.ts";

/** Of the ids that a neighbour had before, so many are remembered. */
const MOST_FORMER = 8;

/** The same links, each at the latest id that vouched statements lead to. Statements that were used before change nothing. */
export function followSuccessors(links: readonly Link[], successors: readonly Successor[], at: Date): Link[] {
  let followed = [...links];
  for (const { peer } of links) {
    const latest = latestOf(peer, successors);
    if (latest === peer) continue;
    // Its owner may have linked the new key by hand.
    followed = followed.filter((link) => link.peer !== latest);
    followed = followed.map((link) => (link.peer === peer ? atNewKey(link, latest, at) : link));
  }
  return followed;
}

function atNewKey(link: Link, peer: string, at: Date): Link {
  const former = [...(link.former ?? []), { peer: link.peer, until: at.toISOString() }].slice(-MOST_FORMER);
  return { ...link, peer, former, isAwaited: true };
}

/** The neighbour has come under its new key: the one before may not connect any more. */
export function withoutAwaited(links: readonly Link[], peer: string): Link[] {
  return links.map((link) => {
    if (link.peer !== peer) return link;
    const { isAwaited, ...met } = link;
    return met;
  });
}

/** The ids under which the neighbour of a link may connect now, its own first. */
export function idsOf({ peer, former = [], isAwaited = false }: Link): string[] {
  return isAwaited ? [peer, ...former.slice(-1).map((before) => before.peer)] : [peer];
}

/** Everybody that may connect now. */
export function contactsOf(links: readonly Link[]): Contact[] {
  return links.flatMap((link) => idsOf(link).map((peer) => ({ peer, addresses: link.addresses })));
}

/** The link of a peer that may connect now. */
export function linkOf(links: readonly Link[], peer: string): Link | undefined {
  return links.find((link) => idsOf(link).includes(peer));
}
