// Keys over the years of a running device: news about keys on its links, old keys that some neighbour still needs, and
// what its owner should know of both.

import { preparedBy, readOldKey, removeOldKeys } from "../disk/keyFiles.ts";
import { type PeerNetwork, reasonOf } from "../environment.ts";
import { type KeyExchange, keyExchange } from "../keys/exchange.ts";
import type { Contact, Identity } from "../keys/peer.ts";
import type { PeerAddresses } from "../links/addressBook.ts";
import { libp2pNetwork } from "../links/libp2pNetwork.ts";
import { type KeyStore, type KeysOptions, keyStore } from "./keyStore.ts";
import { keyProblems } from "./problems.ts";

// Neighbours that were away while a device changed its key: they only let the old key in. So the old key dials them, says
// nothing but whom it vouches for, and is not used any more when they have answered.

/** Dials until it is closed; it listens nowhere. `links`: those that know the device by this id only. */
async function startMessenger(
  identity: Identity,
  links: readonly Contact[],
  { peerAddresses, clock }: RunningKeysOptions,
  { rotation, onKnown }: KeyStore,
) {
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
  return { setLinks: network.setLinks, close: () => exchange.close() };
}

type Messenger = Awaited<ReturnType<typeof startMessenger>>;

interface RunningKeysOptions extends KeysOptions {
  readonly peerAddresses: PeerAddresses;
  /** The network of the device. */
  readonly network: PeerNetwork;
}

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
        messengers.set(id, old && (await startMessenger(old, links, options, store)));
      }
    }
    if (!isClosed) await removeOldKeys(path, [...wanted.keys()]);
  };
  const tend = () => {
    work = work.then(send).catch((error) => parts.notices.set("keys", `an old key cannot be used: ${reasonOf(error)}`));
    return work;
  };

  const store = await keyStore(options, { announce: () => network.announce(), onRotation: () => void tend() });
  const network: KeyExchange = keyExchange(options.network, clock, store);
  return {
    /** The network with everything about keys taken out of it. */
    network,
    /** Sends old keys to those that know no other. After the network was started. */
    start: () => void tend(),
    /** A command has changed a file about keys. Returns whether it could be read. */
    reload: store.reload,
    problems() {
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
