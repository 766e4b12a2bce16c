// Keys over the years of a running device. It follows a neighbour to its new key, unlinks whoever is revoked by one whose
// word counts, and keeps all of it in its folder before it answers. Old keys that some neighbour still needs go on dialling it.

import { lockFolder } from "../disk/folderLock.ts";
import * as keyFiles from "../disk/keyFiles.ts";
import * as linksFile from "../disk/linksFile.ts";
import { Allowance, type Clock, type PeerNetwork, reasonOf } from "../environment.ts";
import { type KeyExchange, type KeyKnowledge, keyExchange } from "../keys/exchange.ts";
import type { Contact, Identity } from "../keys/peer.ts";
import { isSigned, isVouched, latestSuccessor, type Revocation, type Successor } from "../keys/statements.ts";
import type { PeerAddresses } from "../links/addressBook.ts";
import { libp2pNetwork } from "../links/libp2pNetwork.ts";
import type { WebSocketSettings } from "../links/webSockets.ts";
import { BETWEEN_REVOCATIONS_MILLISECONDS, MOST_REVOCATIONS } from "../wire/limits.ts";
import type { AuditKeeper } from "./auditKeeper.ts";
import { type DeviceFolder, readFolder } from "./folder.ts";
import { succeedMember } from "./memberFile.ts";
import { keyProblems } from "./problems.ts";
import type { DaemonParts } from "./status.ts";

/** The folder of a device that is about to run, after the change of its key that is due, if one is: from which id to which. */
export async function openFolder(path: string) {
  const folder = await readFolder(path);
  const peers = folder.links.map(({ peer }) => peer);
  if (!keyFiles.isRotationDue(await keyFiles.readRotationFile(path), folder.identity.peer, peers))
    return { folder, rotated: undefined };
  // Not under a device that runs: it would go on with the key before.
  const unlock = await lockFolder(path);
  try {
    const rotated = await keyFiles.finishRotationFile(path, peers);
    const renewed = await readFolder(path);
    if (rotated !== undefined) await succeedMember(renewed, rotated.from);
    return { folder: renewed, rotated };
  } finally {
    await unlock();
  }
}

interface RunningKeysOptions {
  readonly folder: DeviceFolder;
  readonly parts: DaemonParts;
  readonly audit: AuditKeeper;
  readonly clock: Clock;
  readonly peerAddresses: PeerAddresses;
  readonly webSockets: WebSocketSettings;
  readonly network: PeerNetwork;
  /** The links in the folder have changed: they are to be used at once. */
  useLinks(): Promise<unknown>;
  /** The prepared key can become the device's own: it is to be started again. */
  onDue(): void;
}

type KeyStore = Awaited<ReturnType<typeof keyStore>>;

/** `announce`: there is something to say to others. `onRotation`: who knows this device by which id has changed. */
// Long: one closure over what the folder says about keys, changed by one task at a time.
async function keyStore(options: RunningKeysOptions, announce: () => void, onRotation: () => void) {
  const { folder, parts, audit, clock } = options;
  const { path } = folder;
  const self = folder.identity.peer;
  let rotation = await keyFiles.readRotationFile(path);
  let revoked = await keyFiles.readRevokedFile(path);
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
    if (keyFiles.isRotationDue(rotation, self, peers())) options.onDue();
  };
  const setKnows = async (link: linksFile.Link, id: string) => {
    await keyFiles.changeRotationFile(path, (now) => ({ ...now, knows: { ...now.knows, [link.peer]: id } }));
    rotation = await keyFiles.readRotationFile(path);
    reportRotation();
  };

  const follow = async (peer: string, successors: readonly Successor[]): Promise<string | undefined> => {
    const link = linksFile.linkInFile(parts.links, peer);
    const latest = latestSuccessor(peer, successors);
    if (link === undefined || latest === peer || !successors.every(isVouched)) return undefined;
    if (link.peer === latest) return latest;
    if (link.peer !== peer) {
      forked.add(link.name);
      return undefined;
    }
    // Whoever is not to be trusted cannot name somebody who is.
    if ([peer, latest].some((id) => keyFiles.knownRevocationsOf(revoked, id).length > 0)) return undefined;
    await linksFile.changeLinksFile(path, (links) => linksFile.linksFileFollowing(links, successors, new Date()));
    const { [peer]: known, ...others } = rotation.knows;
    if (known !== undefined)
      await keyFiles.changeRotationFile(path, (now) => ({ ...now, knows: { ...others, [latest]: known } }));
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
    if (!keyFiles.isUnknownRevocation(revoked, revocation) || !mayBring(via) || !isSigned(revocation)) return;
    const standpoint = { links: parts.links, via, at: new Date() };
    await keyFiles.changeRevokedFile(path, (list) => keyFiles.withKnownRevocation(list, revocation, standpoint));
    revoked = await keyFiles.readRevokedFile(path);
    const { signer, revoked: peer, reason } = revocation;
    const unlinked = revoked.find(
      (known) => known.revocation.signer === signer && known.revocation.revoked === peer,
    )?.unlinked;
    audit.note("revoked", { peer, signer, reason, unlinked: unlinked?.name ?? null });
    if (unlinked != null) {
      await linksFile.changeLinksFile(path, (links) => links.filter((link) => link.peer !== unlinked.peer));
      await options.useLinks();
    }
    announce();
  };

  const knowledge: KeyKnowledge = {
    successorsFor(peer) {
      const link = linksFile.linkInFile(parts.links, peer);
      if (link === undefined || keyFiles.behindRotation(rotation, self, [link.peer]).length === 0) return [];
      const first = rotation.successors.findIndex(({ old }) => old === (rotation.knows[link.peer] ?? self));
      return first < 0 ? [] : rotation.successors.slice(first);
    },
    revocations: () => revoked.filter(({ isOverruled }) => !isOverruled).map(({ revocation }) => revocation),
    onConnect(peer) {
      const link = linksFile.linkInFile(parts.links, peer);
      if (link === undefined) return;
      if (link.isAwaited === true && link.peer === peer) {
        void inOrder(async () => {
          await linksFile.changeLinksFile(path, (links) => linksFile.linksFileWithoutAwaited(links, peer));
          await options.useLinks();
        });
      }
      const known = rotation.knows[link.peer];
      // It has let this device in, so it knows its key.
      if (known !== undefined && known !== self && known !== keyFiles.preparedRotation(rotation, self)) {
        void inOrder(() => setKnows(link, self));
      }
    },
    follow: (peer, successors) => inOrder(() => follow(peer, successors)),
    onKnown(peer, id) {
      const link = linksFile.linkInFile(parts.links, peer);
      if (link === undefined || ![self, keyFiles.preparedRotation(rotation, self)].includes(id)) return;
      void inOrder(() => setKnows(link, id));
    },
    onRevocations(peer, revocations) {
      void inOrder(async () => {
        for (const revocation of revocations) await hearRevocation(peer, revocation);
      });
    },
  };
  return {
    ...knowledge,
    /** Reads what a command has changed. Returns whether it could be read. */
    async reload() {
      const isRead = await inOrder(async () => {
        rotation = await keyFiles.readRotationFile(path);
        revoked = await keyFiles.readRevokedFile(path);
        return true;
      });
      announce();
      reportRotation();
      return isRead ?? false;
    },
    rotation: () => rotation,
    problems: () => keyProblems({ self, links: parts.links, rotation, revoked, forked: [...forked] }, new Date()),
    /** When everything that was heard is done. */
    settled: () => work,
  };
}

// Neighbours that were away while a device changed its key: they only let the old key in. So the old key dials them, says
// nothing but whom it vouches for, and is not used any more when they have answered.

/** Dials until it is closed; it listens nowhere. `links`: those that know the device by this id only. */
async function startMessenger(
  identity: Identity,
  links: readonly Contact[],
  { peerAddresses, webSockets, clock }: RunningKeysOptions,
  { rotation, onKnown }: KeyStore,
) {
  const ignored = () => {};
  const network = libp2pNetwork({
    identity,
    listen: [],
    links,
    peerAddresses,
    webSockets,
    clock,
    onStranger: ignored,
    onRefuse: ignored,
  });
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
  return { setLinks: network.setLinks, close: () => exchange.close() };
}

type Messenger = Awaited<ReturnType<typeof startMessenger>>;

// Long: one closure over the messengers that are on their way.
export async function startKeys(options: RunningKeysOptions) {
  const { folder, parts, clock } = options;
  const { path, identity } = folder;
  const self = identity.peer;
  const messengers = new Map<string, Messenger | undefined>();
  let isClosed = false;
  let work: Promise<void> = Promise.resolve();

  /** Neighbours by the old id under which they know this device. */
  const waiting = () => {
    const rotation = store.rotation();
    const current = [self, keyFiles.preparedRotation(rotation, self)];
    const by = new Map<string, typeof parts.links>();
    for (const link of parts.links) {
      const known = rotation.knows[link.peer];
      if (known !== undefined && !current.includes(known)) by.set(known, [...(by.get(known) ?? []), link]);
    }
    return by;
  };
  const send = async () => {
    const wanted = isClosed ? new Map() : waiting();
    for (const [id, messenger] of messengers) {
      if (wanted.has(id)) continue;
      messengers.delete(id);
      await messenger?.close();
    }
    for (const [id, links] of wanted) {
      if (messengers.has(id)) messengers.get(id)?.setLinks(links);
      else {
        const old = await keyFiles.readOldKeyFile(path, id);
        messengers.set(id, old && (await startMessenger(old, links, options, store)));
      }
    }
    if (!isClosed) await keyFiles.removeOldKeyFiles(path, [...wanted.keys()]);
  };
  const tend = () => {
    work = work.then(send).catch((error) => parts.notices.set("keys", `an old key cannot be used: ${reasonOf(error)}`));
    return work;
  };

  const store = await keyStore(
    options,
    () => network.announce(),
    () => void tend(),
  );
  const network: KeyExchange = keyExchange(options.network, clock, store);
  return {
    /** The network with everything about keys taken out of it. */
    network,
    /** Sends old keys to those that know no other. After the network was started. */
    start: () => void tend(),
    /** A command has changed a file about keys. Returns whether it could be read. */
    reload: store.reload,
    problems: store.problems,
    async close() {
      isClosed = true;
      await store.settled();
      await tend();
    },
  };
}
