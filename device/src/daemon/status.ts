// What a running device says about itself, as one plain object for `device status`, `up` and metrics, put together from its
// loop, its network and what its owner decided.

import type { ChangeStatus, ChangingDevice } from "../change/changingDevice.ts";
import { type Link, linksFileIds } from "../disk/linksFile.ts";
import type { Libp2pNetwork, RelayTraffic } from "../links/libp2pNetwork.ts";
import type { LinkTraffic } from "../links/linkKeeper.ts";
import type { DeviceStatus, NeighbourStatus } from "../loop/status.ts";
import { differenceFrom, linkRemarks, type Study } from "../study/study.ts";
import { STATUS_VERSION } from "../wire/limits.ts";
import type { EnvironmentVariables } from "./fileWatch.ts";
import type { Notice, NoticeBoard } from "./notices.ts";
import { DELAY_RESOLUTION_MILLISECONDS, type Delays } from "./quiet.ts";
import type { Stranger, StrangerList } from "./strangers.ts";
import type { TrendPoint } from "./trend.ts";

/** How a link is doing, with what the network knows of it. */
export interface LinkStatus extends NeighbourStatus, Omit<LinkTraffic, "failure" | "version"> {
  readonly name: string;
  readonly addresses: readonly string[];
  /** Why it cannot be reached, if it cannot. */
  readonly failure: string | null;
  /** Its machine stopped to answer while it was connected. */
  readonly isVanished: boolean;
  /** Hashes of the studies that it said it speaks; empty: it said nothing. */
  readonly studies: readonly string[];
  /** How the study that it proposes differs from this device's, and how to accept it. */
  readonly proposal: string | null;
  /** This device is changing to another study, which the neighbour has not accepted. */
  readonly isMissing: boolean;
  /** Its owner keeps it out of the study. */
  readonly isOut: boolean;
  /** The name of the neighbour through which it is reached now; null: it is not reached through any. */
  readonly via: string | null;
  /** The names of neighbours through which it says that it can be reached. */
  readonly relays: readonly string[];
  /** Whether it relays to others, as far as is known. */
  readonly isRelay: boolean;
}

/** Whether the device runs is not among it: one that is killed cannot write that it does not. Its lock knows. */
export interface DaemonStatus {
  readonly version: typeof STATUS_VERSION;
  /** Of fedkm. */
  readonly programVersion: string;
  /** Of the operating system's process. */
  readonly pid: number;
  readonly name: string;
  /** Of the study that the device runs, in hex: its file may have been edited since. */
  readonly studyHash: string;
  readonly startedAt: string;
  readonly writtenAt: string;
  /** When it was stopped; null: it runs, or ended without a word. */
  readonly stoppedAt: string | null;
  readonly addresses: readonly string[];
  readonly memoryBytes: number;
  /** Milliseconds that one event in a hundred had to wait, over the last second or two: how busy the program is. */
  readonly delayMilliseconds: number;
  /** When the rows in use were read. */
  readonly dataReadAt: string;
  /** Writes that failed since the start, by what was to be written: states, statuses and lines of the log. */
  readonly failedWrites: Readonly<Record<"state" | "status" | "log", number>>;
  readonly device: Omit<DeviceStatus, "neighbours">;
  readonly links: readonly LinkStatus[];
  /** What so few links cannot protect from, in a sentence each; nothing is wrong. */
  readonly linkRemarks: readonly string[];
  /** The study that it is changing to, and how it does in it; null: there is no change of study. */
  readonly next: { readonly studyHash: string; readonly device: Omit<DeviceStatus, "neighbours"> } | null;
  /** Studies that neighbours speak and this device does not, as canonical texts, with the names of those links. */
  readonly proposals: readonly {
    readonly studyHash: string;
    readonly text: string;
    readonly from: readonly string[];
  }[];
  /** What it carries between its neighbours; null: it does not relay. */
  readonly relay: RelayTraffic | null;
  readonly pending: readonly Stranger[];
  /** What a person should know: what is wrong now, then what was. */
  readonly notices: readonly Notice[];
  /** Objective and move over time, the oldest first. */
  readonly trend: readonly TrendPoint[];
}

/** So many digits of a study's hash are enough for a person to type. */
const SHORT_HASH = 8;

/** What only the program around a daemon knows. */
export interface DaemonHost {
  /** Of the program. */
  readonly version: string;
  readonly pid: number;
  /** Where passwords and addresses of sources may stand. */
  readonly env: EnvironmentVariables;
  memoryBytes(): number;
  /** That it has spent on the processor since its start. */
  cpuMicroseconds(): number;
  /** Why the last line of the log was lost, if it was, and how many were so far. */
  logFailure(): string | undefined;
  linesLost(): number;
}

/** What a daemon consists of, as far as its status shows it. */
export interface DaemonParts {
  readonly name: string;
  readonly host: DaemonHost;
  readonly startedAt: string;
  readonly pending: StrangerList;
  readonly notices: NoticeBoard;
  /** Why peers are kept away, by peer. */
  readonly bans: Map<string, string>;
  /** Since the last status was written. */
  readonly delays: Delays;
  trend: readonly TrendPoint[];
  stoppedAt: string | null;
  dataReadAt: string;
  statusFailures: number;
  links: readonly Link[];
  study: Study;
  /** The study that it is changing to. */
  next: Study | undefined;
  /** The hash of the closed study that its owner has approved of, if any. */
  approved: string | undefined;
}

export function daemonStatus(
  parts: DaemonParts,
  device: ChangingDevice,
  network: Libp2pNetwork,
  store: { failedWrites(): number },
): DaemonStatus {
  const { name, host, startedAt, stoppedAt, dataReadAt, pending, delays, links, notices } = parts;
  const change = device.change();
  return {
    version: STATUS_VERSION,
    programVersion: host.version,
    pid: host.pid,
    name,
    studyHash: change.study,
    startedAt,
    writtenAt: new Date().toISOString(),
    stoppedAt,
    addresses: network.addresses(),
    memoryBytes: host.memoryBytes(),
    delayMilliseconds: Math.max(0, delays.percentile(99) / 1e6 - DELAY_RESOLUTION_MILLISECONDS),
    dataReadAt,
    failedWrites: { state: store.failedWrites(), status: parts.statusFailures, log: host.linesLost() },
    ...describeLinks(parts, device.status(), change, network),
    linkRemarks: linkRemarks(parts.study, links.length, device.status().shared?.members),
    next: change.next && { studyHash: change.next.study, device: withoutNeighbours(change.next.device) },
    proposals: change.proposals.map(({ id, text, peers }) => ({
      studyHash: id,
      text,
      from: links.flatMap(({ name, peer }) => (peers.includes(peer) ? [name] : [])),
    })),
    relay: network.relayTraffic() ?? null,
    pending: pending.list(),
    notices: notices.list(),
    trend: parts.trend,
  };
}

/** The device's neighbours and the network's links are the same peers: one entry for each link, under the id in use. */
function describeLinks(
  { links, study }: DaemonParts,
  { neighbours, ...own }: DeviceStatus,
  { missing, proposals, studiesOf, isOut }: ChangeStatus,
  network: Libp2pNetwork,
): Pick<DaemonStatus, "device" | "links"> {
  const byPeer = new Map(neighbours.map((neighbour) => [neighbour.peer, neighbour]));
  const described = links.flatMap((link) => {
    const known = linksFileIds(link).flatMap((peer) => byPeer.get(peer) ?? []);
    const neighbour = known.find(({ isConnected }) => isConnected) ?? known[0];
    const traffic = neighbour && network.traffic(neighbour.peer);
    if (traffic === undefined) return [];
    const { peer } = neighbour;
    const { name, addresses } = link;
    const proposed = proposals.find(({ peers }) => peers.includes(peer));
    const difference = proposed && differenceFrom(study, proposed.text);
    const { via, relays, isRelay, isVanished } = network.route(peer);
    return [
      {
        name,
        addresses,
        ...neighbour,
        ...traffic,
        failure: traffic.failure === undefined ? null : withNames(traffic.failure, links),
        version: neighbour.version ?? traffic.version ?? null,
        isVanished,
        studies: studiesOf(peer) ?? [],
        proposal: difference
          ? `${difference} (to accept it: fedkm device study accept ${proposed.id.slice(0, SHORT_HASH)})`
          : null,
        isMissing: missing.includes(peer),
        isOut: isOut(peer),
        via: links.find((relay) => relay.peer === via)?.name ?? null,
        relays: links.filter((relay) => relays.includes(relay.peer)).map((relay) => relay.name),
        isRelay,
      },
    ];
  });
  return { device: own, links: described };
}

function withoutNeighbours({ neighbours, ...device }: DeviceStatus): Omit<DeviceStatus, "neighbours"> {
  return device;
}

/** The owner knows neighbours by name. */
function withNames(text: string, links: readonly Link[]): string {
  return links.reduce((named, { peer, name }) => named.replaceAll(peer, name), text);
}
