// What a person should know about keys now: who has a new one, who does not know this device's new one yet, and who says
// of whom that it is no longer to be trusted.

import { formatInvite } from "../disk/identityFile.ts";
import { behind, type Rotation } from "../disk/keyFiles.ts";
import type { Link } from "../disk/linksFile.ts";
import { linkOf } from "../keys/followed.ts";
import type { KnownRevocation } from "../keys/revoked.ts";
import type { LinkProblem } from "./notices.ts";

/** What needs no answer is shown for this time, by the wall clock. */
const SHOWN_MILLISECONDS = 7 * 86_400_000;
/** Of what one signer says, so much stands in its notice. */
const MOST_SAID = 3;

export interface KeyFactsNow {
  readonly self: string;
  readonly links: readonly Link[];
  readonly rotation: Rotation;
  readonly revoked: readonly KnownRevocation[];
  /** Names of neighbours that named two new keys. */
  readonly forked: readonly string[];
}

export function keyProblems(facts: KeyFactsNow, now: Date): LinkProblem[] {
  const { self, links, rotation, forked } = facts;
  const isFresh = (date: string) => now.getTime() - Date.parse(date) < SHOWN_MILLISECONDS;
  const lagging = behind(
    rotation,
    self,
    links.map(({ peer }) => peer),
  );
  const found = links.flatMap(({ name, peer, former = [], isAwaited }): LinkProblem[] => {
    const since = former.at(-1)?.until;
    const parts = [
      ...(since !== undefined && (isAwaited || isFresh(since))
        ? [`has a new key since ${since}, as its old key says`]
        : []),
      ...(isAwaited ? ["was not met under it yet"] : []),
      ...(lagging.includes(peer) ? ["does not know this device's new key yet"] : []),
      ...(forked.includes(name) ? ["named two new keys, so one may be a thief's: ask its owner which to revoke"] : []),
    ];
    return parts.length > 0 ? [{ cause: "key", link: name, text: `${name} ${parts.join(", and ")}` }] : [];
  });
  return [...found, ...revocationProblems(facts, isFresh)];
}

/** One notice for each signer. */
function revocationProblems({ self, links, revoked }: KeyFactsNow, isFresh: (date: string) => boolean): LinkProblem[] {
  const shown = revoked.filter(({ revocation, via, heardAt, isOverruled }) => {
    const isOpen = linkOf(links, revocation.revoked) !== undefined || revocation.revoked === self;
    return via !== null && !isOverruled && (isOpen || isFresh(heardAt));
  });
  const signers = [...new Set(shown.map(({ revocation }) => revocation.signer))];
  return signers.map((signer): LinkProblem => {
    const name = linkOf(links, signer)?.name ?? signer;
    const said = shown.filter(({ revocation }) => revocation.signer === signer);
    const texts = said.slice(0, MOST_SAID).map((entry) => sentenceOf(entry, links, self));
    const more = said.length > MOST_SAID ? [`and of ${said.length - MOST_SAID} others, see fedkm device links`] : [];
    return { cause: "revoked", link: name, text: `${name} says that ${[...texts, ...more].join("; ")}` };
  });
}

function sentenceOf({ revocation, unlinked }: KnownRevocation, links: readonly Link[], self: string): string {
  const { revoked, reason } = revocation;
  const link = linkOf(links, revoked);
  const who = revoked === self ? "this device" : (link?.name ?? unlinked?.name ?? revoked);
  const because = reason === "" ? "" : `: ${reason}`;
  const said = `${who} is no longer to be trusted${because}`;
  if (unlinked !== null) {
    const again = `fedkm device link ${formatInvite(unlinked)} --name ${unlinked.name} --even-revoked`;
    return `${said} (it was unlinked; to undo that: ${again})`;
  }
  return link === undefined
    ? said
    : `${said} (it is still linked; to unlink it: fedkm device link --remove ${link.name})`;
}
