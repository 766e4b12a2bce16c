// What a device is made of, and what its owner can do with it. There are two kinds: with clusters of its own, and with
// shared ones.

import type { Clock, PeerNetwork } from "../environment.ts";
import type { Secrets } from "../keys/secrets.ts";
import type { OwnerLimits } from "../study/ownerLimits.ts";
import type { DeviceRows } from "../study/remoteRows.ts";
import type { Study } from "../study/study.ts";
import type { Contract } from "../wire/frames.ts";
import type { DeviceMemory } from "./savedState.ts";
import type { DeviceStatus, SharedStage } from "./status.ts";

/** What a device needs: a study, rows, a network, a clock and a memory. */
export interface DeviceOptions {
  /** What all devices agreed on. */
  readonly study: Study;
  /** Of `study`: `await contractOf(study)`. */
  readonly contract: Contract;
  /** Links to the neighbours. */
  readonly network: PeerNetwork;
  /** Time and timers. */
  readonly clock: Clock;
  /** Where the device keeps its state. */
  readonly memory: DeviceMemory;
  /** Milliseconds since 1970, for what must happen within days. Default: the clock. */
  readonly wallClock?: () => number;
  /** The linked peers at the start. */
  readonly links: readonly string[];
  /** The rows that stay on this device. */
  readonly rows: DeviceRows;
  /** Of the first k-means. Default 0. */
  readonly seed?: number;
  /** With shared clusters: what the device's key can do. */
  readonly secrets?: Secrets;
  /** With founders: what was said of members before this start, as it travels. */
  readonly statements?: readonly Uint8Array[];
  /** Hears what neighbours say of members, to be kept. */
  readonly onStatements?: (statements: readonly Uint8Array[]) => void;
  /** Of an open study: the hash of the closed one that its owner approved of before this start. */
  readonly approved?: string;
  /** What its owner allows, whatever the study says. Default: everything. */
  readonly limits?: OwnerLimits;
  /** With shared clusters: hears what the rows add to the sums of a stage, as so many integers, before it is sent. */
  readonly onAdded?: (study: string, stage: SharedStage, integers: number) => void;
  /** Begins paused. Default false. */
  readonly isPaused?: boolean;
  /** Between two updates, at least. Default 10. */
  readonly paceMilliseconds?: number;
  /** Rows that are elsewhere do not answer: nothing is computed before the device is given rows again. */
  readonly onRowsLost?: (reason: unknown) => void;
  /** What a person should know, one line each; never data. */
  readonly notice?: (line: string) => void;
}

/** A device that was made, from its start to its end. */
export interface Device {
  start(): Promise<void>;
  /** New data, whole. */
  setRows(rows: DeviceRows): void;
  setLinks(peers: readonly string[]): void;
  /** Begins again from its own rows, and all devices with it. With rows: as a person consents, deleted rows go at once, and a lost history begins anew. */
  reset(rows?: DeviceRows): void;
  /** Paused, it makes no update, and says again and again what it last sent. It hears its neighbours all the same. */
  setPaused(isPaused: boolean): void;
  /** With shared clusters: its owner asks what devices added to the answer, and lets all see what this one did. */
  openBooks(): void;
  /** Of an open study: its owner approves of the closed study with this hash. */
  approve(study: string): void;
  /** With founders: what its owner says of members. */
  addStatements(statements: readonly Uint8Array[]): void;
  status(): DeviceStatus;
  /** Stops updating and sending; the network and the memory are their owners' to close. */
  stop(): void;
}

/** A device whose study keeps a history; see historyWatch.ts. */
export interface HistoryDevice extends Device {
  /** What was published is not known any more: nothing of these rows is sent until a person consents. */
  loseHistory(rows: DeviceRows): void;
}
