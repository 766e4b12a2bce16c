// What a running device says about itself, as one plain object: for `device status`, for `up`, for metrics.

import type { LinkTraffic } from "../link/keeper.ts";
import type { DeviceStatus, NeighbourStatus } from "../status.ts";
import type { Stranger } from "./pending.ts";

export interface LinkStatus extends NeighbourStatus, Omit<LinkTraffic, "failure"> {
  readonly name: string;
  readonly addresses: readonly string[];
  /** Why it cannot be reached, if it cannot. */
  readonly failure: string | null;
}

export interface DaemonStatus {
  readonly version: 1;
  readonly isRunning: boolean;
  /** Of the operating system's process. */
  readonly pid: number;
  readonly name: string;
  /** Of the study that the device runs, in hex: its file may have been edited since. */
  readonly studyHash: string;
  readonly startedAt: string;
  readonly writtenAt: string;
  readonly addresses: readonly string[];
  readonly memoryBytes: number;
  /** Milliseconds that one event in a hundred had to wait, over the last second or two: how busy the program is. */
  readonly delayMilliseconds: number;
  readonly device: Omit<DeviceStatus, "neighbours">;
  readonly links: readonly LinkStatus[];
  readonly pending: readonly Stranger[];
  /** The last thing a person should know, if there is one. */
  readonly notice: string | null;
}

export const STATUS_FILE = "status.json";
