// The status of a running daemon, put together from its device, its network and what its owner decided.

import type { ChangeStatus, ChangingDevice } from "../change/changingDevice.ts";
import type { Link } from "../disk/linksFile.ts";
import { idsOf } from "../keys/followed.ts";
import type { Libp2pNetwork } from "../links/libp2pNetwork.ts";
import type { DeviceStatus } from "../loop/status.ts";
import { differenceFrom, type Study } from "../study/study.ts";
import type { NoticeBoard } from "./notices.ts";
import { DELAY_RESOLUTION_MILLISECONDS, type Delays } from "./quiet.ts";
import { type DaemonStatus, type NextStatus, STATUS_VERSION } from "./status.ts";
import type { StrangerList } from "./strangers.ts";

/** So many digits of a study's hash are enough for a person to type. */
const SHORT_HASH = 8;

/** What only the program around a daemon knows. */
export interface DaemonHost {
  /** Of the program. */
  readonly version: string;
  readonly pid: number;
  memoryBytes(): number;
  /** Why the last line of the log was lost, if it was, and how many were so far. */
  logFailure(): string | undefined;
  linesLost(): number;
}

/** What a daemon consists of, as far as its status shows it. */
export interface DaemonParts {
  readonly name: string;
  readonly surroundings: DaemonHost;
  readonly startedAt: string;
  readonly pending: StrangerList;
  readonly notices: NoticeBoard;
  /** Why peers are kept away, by peer. */
  readonly bans: Map<string, string>;
  /** Since the last status was written. */
  readonly delays: Delays;
  stoppedAt: string | null;
  dataReadAt: string;
  statusFailures: number;
  links: readonly Link[];
  study: Study;
  /** The study that it is changing to. */
  next: Study | undefined;
}

export function daemonStatus(
  parts: DaemonParts,
  device: ChangingDevice,
  network: Libp2pNetwork,
  store: { failedWrites(): number },
): DaemonStatus {
  const { name, surroundings, startedAt, stoppedAt, dataReadAt, pending, delays, links, notices } = parts;
  const change = device.change();
  return {
    version: STATUS_VERSION,
    programVersion: surroundings.version,
    pid: surroundings.pid,
    name,
    studyHash: change.study,
    startedAt,
    writtenAt: new Date().toISOString(),
    stoppedAt,
    addresses: network.addresses(),
    memoryBytes: surroundings.memoryBytes(),
    delayMilliseconds: Math.max(0, delays.percentile(99) / 1e6 - DELAY_RESOLUTION_MILLISECONDS),
    dataReadAt,
    failedWrites: { state: store.failedWrites(), status: parts.statusFailures, log: surroundings.linesLost() },
    ...describeLinks(parts, device.status(), change, network),
    next: change.next && describeNext(change.next),
    proposals: change.proposals.map(({ id, text, peers }) => ({
      studyHash: id,
      text,
      from: links.flatMap(({ name, peer }) => (peers.includes(peer) ? [name] : [])),
    })),
    relay: network.relayTraffic() ?? null,
    pending: pending.list(),
    notices: notices.list(),
  };
}

/** The device's neighbours and the network's links are the same peers: one entry for each link, under the id in use. */
function describeLinks(
  { links, study }: DaemonParts,
  { neighbours, ...own }: DeviceStatus,
  { missing, proposals, spokenBy }: ChangeStatus,
  network: Libp2pNetwork,
): Pick<DaemonStatus, "device" | "links"> {
  const byPeer = new Map(neighbours.map((neighbour) => [neighbour.peer, neighbour]));
  const described = links.flatMap((link) => {
    const known = idsOf(link).flatMap((peer) => byPeer.get(peer) ?? []);
    const neighbour = known.find(({ isConnected }) => isConnected) ?? known[0];
    const traffic = neighbour && network.traffic(neighbour.peer);
    if (traffic === undefined) return [];
    const { peer } = neighbour;
    const { name, addresses } = link;
    const proposed = proposals.find(({ peers }) => peers.includes(peer));
    const proposal = proposed && proposalOf(study, proposed.id, proposed.text);
    const { via, relays, isRelay } = network.route(peer);
    return [
      {
        name,
        addresses,
        ...neighbour,
        ...traffic,
        failure: traffic.failure === undefined ? null : withNames(traffic.failure, links),
        version: neighbour.version ?? traffic.version ?? null,
        studies: spokenBy(peer) ?? [],
        proposal: proposal ?? null,
        isMissing: missing.includes(peer),
        via: links.find((relay) => relay.peer === via)?.name ?? null,
        relays: links.filter((relay) => relays.includes(relay.peer)).map((relay) => relay.name),
        isRelay,
      },
    ];
  });
  return { device: own, links: described };
}

function proposalOf(here: Study, id: string, text: string): string | undefined {
  const difference = differenceFrom(here, text);
  return difference && `${difference} (to accept it: fedkm device study accept ${id.slice(0, SHORT_HASH)})`;
}

function describeNext({ study, device: { neighbours, ...device } }: NonNullable<ChangeStatus["next"]>): NextStatus {
  return { studyHash: study, device };
}

/** The owner knows neighbours by name. */
function withNames(text: string, links: readonly Link[]): string {
  return links.reduce((named, { peer, name }) => named.replaceAll(peer, name), text);
}
