// What a running device says about itself, as one plain object: for `device status`, for `up`, for metrics.

import type { RelayTraffic } from "../links/libp2pNetwork.ts";
import type { LinkTraffic } from "../links/linkKeeper.ts";
import type { DeviceStatus, NeighbourStatus } from "../loop/status.ts";
import type { Notice } from "./notices.ts";
import type { Stranger } from "./strangers.ts";

export interface LinkStatus extends NeighbourStatus, Omit<LinkTraffic, "failure" | "version"> {
  readonly name: string;
  readonly addresses: readonly string[];
  /** Why it cannot be reached, if it cannot. */
  readonly failure: string | null;
  /** Hashes of the studies that it said it speaks; empty: it said nothing. */
  readonly studies: readonly string[];
  /** How the study that it proposes differs from this device's, and how to accept it. */
  readonly proposal: string | null;
  /** This device is changing to another study, which the neighbour has not accepted. */
  readonly isMissing: boolean;
  /** The name of the neighbour through which it is reached now; null: it is not reached through any. */
  readonly via: string | null;
  /** The names of neighbours through which it says that it can be reached. */
  readonly relays: readonly string[];
  /** Whether it relays to others, as far as is known. */
  readonly isRelay: boolean;
}

/** The study that a device is changing to, and how it does in it. */
export interface NextStatus {
  readonly studyHash: string;
  readonly device: Omit<DeviceStatus, "neighbours">;
}

/** A study that neighbours speak and this device does not. */
interface ProposalStatus {
  readonly studyHash: string;
  /** Canonical. */
  readonly text: string;
  /** The names of the links. */
  readonly from: readonly string[];
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
  /** Null: there is no change of study. */
  readonly next: NextStatus | null;
  readonly proposals: readonly ProposalStatus[];
  /** What it carries between its neighbours; null: it does not relay. */
  readonly relay: RelayTraffic | null;
  readonly pending: readonly Stranger[];
  /** What a person should know: what is wrong now, then what was. */
  readonly notices: readonly Notice[];
}

export const STATUS_FILE = "status.json";
export const STATUS_VERSION = 2;
