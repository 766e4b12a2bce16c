// Keys over the years of a running device: news about keys on its links, old keys that some neighbour still needs, and
// what its owner should know of both.

import { preparedBy, type Rotation, readOldKey, removeOldKeys } from "../disk/keyFiles.ts";
import { type Clock, type PeerNetwork, reasonOf } from "../environment.ts";
import { type KeyExchange, keyExchange } from "../keys/exchange.ts";
import type { Contact, Identity } from "../keys/peer.ts";
import type { PeerAddresses } from "../links/addressBook.ts";
import { type Libp2pNetwork, libp2pNetwork } from "../links/libp2pNetwork.ts";
import type { AuditKeeper } from "./auditKeeper.ts";
import type { DeviceFolder } from "./folder.ts";
import { keyStore } from "./keyStore.ts";
import type { LinkProblem } from "./notices.ts";
import { keyProblems } from "./problems.ts";
import type { DaemonParts } from "./status.ts";

// Neighbours that were away while a device changed its key: they only let the old key in. So the old key dials them, says
// nothing but whom it vouches for, and is not used any more when they have answered.

interface MessengerOptions {
  readonly identity: Identity;
  /** Those that know the device by this id only. */
  readonly links: readonly Contact[];
  readonly peerAddresses: PeerAddresses;
  readonly clock: Clock;
  rotation(): Rotation;
  /** The neighbour knows the device by this id. */
  onKnown(peer: string, id: string): void;
}

/** Dials until it is closed; it listens nowhere. */
async function startMessenger(options: MessengerOptions): Promise<Pick<Libp2pNetwork, "setLinks" | "close">> {
  const { identity, links, peerAddresses, clock, rotation, onKnown } = options;
  const ignored = () => {};
  const network = libp2pNetwork({
    identity,
    listen: [],
    links,
    peerAddresses,
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
  return { setLinks: (wanted) => network.setLinks(wanted), close: () => exchange.close() };
}

interface KeysOptions {
  readonly folder: DeviceFolder;
  readonly parts: DaemonParts;
  readonly audit: AuditKeeper;
  readonly clock: Clock;
  readonly peerAddresses: PeerAddresses;
  /** The network of the device. */
  readonly network: PeerNetwork;
  /** The links in the folder have changed: they are to be used at once. */
  useLinks(): Promise<unknown>;
  /** The prepared key can become the device's own: it is to be started again. */
  onDue(): void;
}

interface RunningKeys {
  /** The network with everything about keys taken out of it. */
  readonly network: KeyExchange;
  /** Sends old keys to those that know no other. After the network was started. */
  start(): void;
  /** A command has changed a file about keys. Returns whether it could be read. */
  reload(): Promise<boolean>;
  problems(): LinkProblem[];
  close(): Promise<void>;
}

type Messenger = Awaited<ReturnType<typeof startMessenger>>;

// Long: one closure over the messengers that are on their way.
export async function startKeys(options: KeysOptions): Promise<RunningKeys> {
  const { folder, parts, audit, clock, peerAddresses } = options;
  const { path, identity } = folder;
  const self = identity.peer;
  const messengers = new Map<string, Messenger | undefined>();
  let isClosed = false;
  let work: Promise<void> = Promise.resolve();

  /** Neighbours by the old id under which they know this device. */
  const waiting = () => {
    const rotation = store.rotation();
    const current = [self, preparedBy(rotation, self)];
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
        const old = await readOldKey(path, id);
        const { rotation, onKnown } = store;
        const parts = { links, peerAddresses, clock, rotation, onKnown };
        messengers.set(id, old === undefined ? undefined : await startMessenger({ identity: old, ...parts }));
      }
    }
    if (!isClosed) await removeOldKeys(path, [...wanted.keys()]);
  };
  const tend = () => {
    work = work.then(send).catch((error) => parts.notices.set("keys", `an old key cannot be used: ${reasonOf(error)}`));
    return work;
  };

  const store = await keyStore({
    path,
    self,
    parts,
    audit,
    clock,
    useLinks: options.useLinks,
    announce: () => network.announce(),
    onRotation: () => void tend(),
    onDue: options.onDue,
  });
  const network: KeyExchange = keyExchange(options.network, clock, store);
  return {
    network,
    start: () => void tend(),
    reload: store.reload,
    problems: () => {
      const { links } = parts;
      const facts = { self, links, rotation: store.rotation(), revoked: store.revoked(), forked: store.forked() };
      return keyProblems(facts, new Date());
    },
    async close() {
      isClosed = true;
      await store.settled();
      await tend();
    },
  };
}
