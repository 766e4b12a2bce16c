// The status of a running daemon, put together from its device, its network and what its owner decided.

import type { Device } from "../device.ts";
import type { Libp2pNetwork } from "../libp2p.ts";
import type { Link } from "../linksFile.ts";
import { DELAY_RESOLUTION_MILLISECONDS, type Delays } from "./delays.ts";
import type { NoticeBoard } from "./notices.ts";
import type { PendingList } from "./pending.ts";
import { type DaemonStatus, STATUS_VERSION } from "./status.ts";

/** What only the program around a daemon knows. */
export interface Surroundings {
  /** Of the program. */
  readonly version: string;
  readonly pid: number;
  memoryBytes(): number;
  /** Why the last line of the log was lost, if it was, and how many were so far. */
  logFailure(): string | undefined;
  linesLost(): number;
}

/** What a daemon consists of, as far as its status shows it. */
export interface Parts {
  readonly name: string;
  readonly surroundings: Surroundings;
  readonly startedAt: string;
  readonly studyHash: string;
  readonly pending: PendingList;
  readonly notices: NoticeBoard;
  /** Why peers are kept away, by peer. */
  readonly bans: Map<string, string>;
  /** Since the last status was written. */
  readonly delays: Delays;
  stoppedAt: string | null;
  dataReadAt: string;
  statusFailures: number;
  links: readonly Link[];
}

/** What changes from second to second. */
export type DescribedLinks = Pick<DaemonStatus, "device" | "links">;

export function describe(
  parts: Parts,
  { device, links }: DescribedLinks,
  network: Libp2pNetwork,
  store: { failedWrites(): number },
): DaemonStatus {
  const { name, surroundings, startedAt, stoppedAt, dataReadAt, studyHash, pending, delays, notices } = parts;
  return {
    version: STATUS_VERSION,
    programVersion: surroundings.version,
    pid: surroundings.pid,
    name,
    studyHash,
    startedAt,
    writtenAt: new Date().toISOString(),
    stoppedAt,
    addresses: network.addresses(),
    memoryBytes: surroundings.memoryBytes(),
    delayMilliseconds: Math.max(0, delays.percentile(99) / 1e6 - DELAY_RESOLUTION_MILLISECONDS),
    dataReadAt,
    failedWrites: { state: store.failedWrites(), status: parts.statusFailures, log: surroundings.linesLost() },
    device,
    links,
    pending: pending.list(),
    notices: notices.list(),
  };
}

/** The device's neighbours and the network's links are the same peers: one entry for each. */
export function describeLinks(device: Device, network: Libp2pNetwork, links: readonly Link[]): DescribedLinks {
  const { neighbours, ...own } = device.status();
  const described = neighbours.flatMap((neighbour) => {
    const link = links.find(({ peer }) => peer === neighbour.peer);
    const traffic = network.traffic(neighbour.peer);
    if (link === undefined || traffic === undefined) return [];
    const { name, addresses } = link;
    return [{ name, addresses, ...neighbour, ...traffic, failure: traffic.failure ?? null }];
  });
  return { device: own, links: described };
}
