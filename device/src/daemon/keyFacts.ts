// What a device's folder says about keys, for a person who asks, running or not.

import { behind, preparedBy, readRotation } from "../disk/keyFiles.ts";
import { readRevoked } from "../keys/revoked.ts";
import type { DeviceFolder } from "./folder.ts";

export interface KeyFacts {
  /** The id under the new key that is prepared; null: none is. */
  readonly next: string | null;
  /** Names of neighbours that do not know the device's new key yet. */
  readonly behind: readonly string[];
  /** What is said about whom; neighbours by their names. */
  readonly revoked: readonly RevokedFact[];
}

interface RevokedFact {
  readonly signer: string;
  readonly peer: string;
  readonly reason: string;
  readonly heardAt: string;
  readonly isOverruled: boolean;
}

export async function keyFacts({ path, identity, links }: DeviceFolder): Promise<KeyFacts> {
  const rotation = await readRotation(path);
  const peers = links.map(({ peer }) => peer);
  const lagging = behind(rotation, identity.peer, peers);
  const nameOf = (peer: string) =>
    peer === identity.peer ? "this device" : (links.find((link) => link.peer === peer)?.name ?? peer);
  return {
    next: preparedBy(rotation, identity.peer) ?? null,
    behind: links.filter(({ peer }) => lagging.includes(peer)).map(({ name }) => name),
    revoked: (await readRevoked(path)).map(({ revocation, heardAt, isOverruled }) => {
      const { signer, revoked, reason } = revocation;
      return { signer: nameOf(signer), peer: nameOf(revoked), reason, heardAt, isOverruled };
    }),
  };
}
