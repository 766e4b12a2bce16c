// What a running device does with news about keys: it follows a neighbour to its new key, unlinks whoever is revoked by
// one whose word counts, and keeps all of it in its folder before it answers.

import {
  behind,
  changeRevoked,
  changeRotation,
  isDue,
  isNewRevocation,
  type KnownRevocation,
  preparedBy,
  type Rotation,
  readRevoked,
  readRotation,
  saidAbout,
  withRevocation,
} from "../disk/keyFiles.ts";
import { changeLinks, followSuccessors, type Link, linkOf, withoutAwaited } from "../disk/linksFile.ts";
import { Allowance, type Clock, reasonOf } from "../environment.ts";
import type { KeyKnowledge } from "../keys/exchange.ts";
import { isSigned, isVouched, latestOf, type Revocation, type Successor } from "../keys/statements.ts";
import { BETWEEN_REVOCATIONS_MILLISECONDS, MOST_REVOCATIONS } from "../wire/limits.ts";
import type { AuditKeeper } from "./auditKeeper.ts";
import type { DeviceFolder } from "./folder.ts";
import type { DaemonParts } from "./status.ts";

export interface KeysOptions {
  readonly folder: DeviceFolder;
  readonly parts: DaemonParts;
  readonly audit: AuditKeeper;
  readonly clock: Clock;
  /** The links in the folder have changed: they are to be used at once. */
  useLinks(): Promise<unknown>;
  /** The prepared key can become the device's own: it is to be started again. */
  onDue(): void;
}

/** What the store calls. */
interface KeyNews {
  /** There is something to say to others. */
  announce(): void;
  /** Who knows this device by which id has changed. */
  onRotation(): void;
}

export interface KeyStore extends KeyKnowledge {
  /** Reads what a command has changed. Returns whether it could be read. */
  reload(): Promise<boolean>;
  /** Who knows this device under which id, and who is said not to be trusted. */
  rotation(): Rotation;
  revoked(): readonly KnownRevocation[];
  /** Names of neighbours that named two new keys. */
  forked(): readonly string[];
  /** When everything that was heard is done. */
  settled(): Promise<void>;
}

// Long: one closure over what the folder says about keys, changed by one task at a time.
export async function keyStore(options: KeysOptions, { announce, onRotation }: KeyNews): Promise<KeyStore> {
  const { folder, parts, audit, clock } = options;
  const { path } = folder;
  const self = folder.identity.peer;
  let rotation = await readRotation(path);
  let revoked = await readRevoked(path);
  const forked = new Set<string>();
  const budgets = new Map<string, Allowance>();
  let work: Promise<unknown> = Promise.resolve();
  /** One after the other; what cannot be kept is a notice, and whoever said it says it again. */
  const inOrder = <T>(task: () => Promise<T>): Promise<T | undefined> => {
    const done = work.then(task).then(
      (result) => {
        parts.notices.set("keys", undefined);
        return result;
      },
      (error) => {
        parts.notices.set("keys", `what is known about keys is not kept: ${reasonOf(error)}`);
        return undefined;
      },
    );
    work = done;
    return done;
  };
  const peers = () => parts.links.map(({ peer }) => peer);
  const reportRotation = () => {
    onRotation();
    if (isDue(rotation, self, peers())) options.onDue();
  };
  const setKnows = async (link: Link, id: string) => {
    await changeRotation(path, (now) => ({ ...now, knows: { ...now.knows, [link.peer]: id } }));
    rotation = await readRotation(path);
    reportRotation();
  };

  const follow = async (peer: string, successors: readonly Successor[]): Promise<string | undefined> => {
    const link = linkOf(parts.links, peer);
    const latest = latestOf(peer, successors);
    if (link === undefined || latest === peer || !successors.every(isVouched)) return undefined;
    if (link.peer === latest) return latest;
    if (link.peer !== peer) {
      forked.add(link.name);
      return undefined;
    }
    // Whoever is not to be trusted cannot name somebody who is.
    if ([peer, latest].some((id) => saidAbout(revoked, id).length > 0)) return undefined;
    await changeLinks(path, (links) => followSuccessors(links, successors, new Date()));
    const { [peer]: known, ...others } = rotation.knows;
    if (known !== undefined) await changeRotation(path, (now) => ({ ...now, knows: { ...others, [latest]: known } }));
    audit.note("followed", { link: link.name, from: peer, to: latest });
    await options.useLinks();
    return latest;
  };

  const mayBring = (peer: string) => {
    const now = clock.now();
    const known = budgets.get(peer) ?? new Allowance(MOST_REVOCATIONS, BETWEEN_REVOCATIONS_MILLISECONDS, now);
    budgets.set(peer, known);
    return known.take(now);
  };
  const hearRevocation = async (via: string, revocation: Revocation) => {
    if (!isNewRevocation(revoked, revocation) || !mayBring(via) || !isSigned(revocation)) return;
    const standpoint = { links: parts.links, via, at: new Date() };
    await changeRevoked(path, (list) => withRevocation(list, revocation, standpoint));
    revoked = await readRevoked(path);
    const { signer, revoked: peer, reason } = revocation;
    const unlinked = revoked.find((entry) => isSame(entry, revocation))?.unlinked;
    audit.note("revoked", { peer, signer, reason, unlinked: unlinked?.name ?? null });
    if (unlinked != null) {
      await changeLinks(path, (links) => links.filter((link) => link.peer !== unlinked.peer));
      await options.useLinks();
    }
    announce();
  };

  return {
    successorsFor(peer) {
      const link = linkOf(parts.links, peer);
      if (link === undefined || behind(rotation, self, [link.peer]).length === 0) return [];
      const first = rotation.successors.findIndex(({ old }) => old === (rotation.knows[link.peer] ?? self));
      return first < 0 ? [] : rotation.successors.slice(first);
    },
    revocations: () => revoked.filter(({ isOverruled }) => !isOverruled).map(({ revocation }) => revocation),
    onConnect(peer) {
      const link = linkOf(parts.links, peer);
      if (link === undefined) return;
      if (link.isAwaited === true && link.peer === peer) {
        void inOrder(async () => {
          await changeLinks(path, (links) => withoutAwaited(links, peer));
          await options.useLinks();
        });
      }
      const known = rotation.knows[link.peer];
      // It has let this device in, so it knows its key.
      if (known !== undefined && known !== self && known !== preparedBy(rotation, self)) {
        void inOrder(() => setKnows(link, self));
      }
    },
    follow: (peer, successors) => inOrder(() => follow(peer, successors)),
    onKnown(peer, id) {
      const link = linkOf(parts.links, peer);
      if (link === undefined || ![self, preparedBy(rotation, self)].includes(id)) return;
      void inOrder(() => setKnows(link, id));
    },
    onRevocations(peer, revocations) {
      void inOrder(async () => {
        for (const revocation of revocations) await hearRevocation(peer, revocation);
      });
    },
    async reload() {
      const isRead = await inOrder(async () => {
        rotation = await readRotation(path);
        revoked = await readRevoked(path);
        return true;
      });
      announce();
      reportRotation();
      return isRead ?? false;
    },
    rotation: () => rotation,
    revoked: () => revoked,
    forked: () => [...forked],
    settled: async () => {
      await work;
    },
  };
}

function isSame({ revocation }: KnownRevocation, { signer, revoked, time }: Revocation): boolean {
  return revocation.signer === signer && revocation.revoked === revoked && revocation.time === time;
}
