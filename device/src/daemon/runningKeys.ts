// Keys over the years of a running device: news about keys on its links, old keys that some neighbour still needs, and
// what its owner should know of both.

import { preparedBy, readOldKey, removeOldKeys } from "../disk/keyFiles.ts";
import type { Clock } from "../environment.ts";
import { type KeyExchange, keyExchange } from "../keys/exchange.ts";
import type { PeerAddresses } from "../links/addressBook.ts";
import type { PeerNetwork } from "../network.ts";
import { reasonOf } from "../reason.ts";
import type { AuditKeeper } from "./auditKeeper.ts";
import type { DaemonParts } from "./describe.ts";
import type { DeviceFolder } from "./folder.ts";
import { keyProblems } from "./keyProblems.ts";
import { keyStore } from "./keyStore.ts";
import { startMessenger } from "./messenger.ts";
import type { LinkProblem } from "./notices.ts";

export interface KeysOptions {
  readonly folder: DeviceFolder;
  readonly parts: DaemonParts;
  readonly audit: AuditKeeper;
  readonly clock: Clock;
  readonly met: PeerAddresses;
  /** The network of the device. */
  readonly network: PeerNetwork;
  /** The links in the folder have changed: they are to be used at once. */
  useLinks(): Promise<unknown>;
  /** The prepared key can become the device's own: it is to be started again. */
  onDue(): void;
}

export interface RunningKeys {
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

export async function startKeys(options: KeysOptions): Promise<RunningKeys> {
  const { folder, parts, audit, clock, met } = options;
  const { path, identity } = folder;
  const self = identity.peer;
  const messengers = new Map<string, Messenger | undefined>();
  let isClosed = false;
  let work: Promise<void> = Promise.resolve();

  /** Neighbours by the old id under which they know this device. */
  const waiting = () => {
    const rotation = desk.rotation();
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
        const { rotation, onKnown } = desk;
        const parts = { links, met, clock, rotation, onKnown };
        messengers.set(id, old === undefined ? undefined : await startMessenger({ identity: old, ...parts }));
      }
    }
    if (!isClosed) await removeOldKeys(path, [...wanted.keys()]);
  };
  const tend = () => {
    work = work.then(send).catch((error) => parts.notices.set("keys", `an old key cannot be used: ${reasonOf(error)}`));
    return work;
  };

  const desk = await keyStore({
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
  const network: KeyExchange = keyExchange(options.network, clock, desk);
  return {
    network,
    start: () => void tend(),
    reload: desk.reload,
    problems: () => {
      const { links } = parts;
      const facts = { self, links, rotation: desk.rotation(), revoked: desk.revoked(), forked: desk.forked() };
      return keyProblems(facts, new Date());
    },
    async close() {
      isClosed = true;
      await desk.settled();
      await tend();
    },
  };
}
