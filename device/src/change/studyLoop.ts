// The loop of one study: personal or shared as the study says, and behind a network that two loops share in a change of study.

import type { NetworkListener, PeerNetwork } from "../environment.ts";
import type { Device, DeviceOptions, HistoryDevice } from "../loop/device.ts";
import { HistoryWatch } from "../loop/historyWatch.ts";
import { PersonalLoop } from "../loop/personalLoop.ts";
import { SharedLoop } from "../sharedClusters/sharedLoop.ts";
import { limitsFault } from "../study/limitedStudy.ts";
import { absentRows } from "../study/remoteRows.ts";
import { isOpenStudy, keepsHistory } from "../study/study.ts";
import { studyId } from "../wire/frames.ts";

/** A study with what a device needs to take part in it. */
export type StudyPart = Pick<DeviceOptions, "study" | "contract" | "memory" | "rows">;

export interface StudyLoop extends StudyPart {
  readonly id: string;
  /** Its owner does not allow it: it has no rows, and adds nothing. */
  readonly isOut: boolean;
  readonly device: Device;
  /** From its start. */
  listener: NetworkListener | undefined;
  /** The linked peers that it counts with. */
  peers: ReadonlySet<string>;
}

/** A loop that takes all but its part from `options`. Whoever has the network hands frames to its listener. */
export function createStudyLoop(options: DeviceOptions, part: StudyPart, links: readonly string[]): StudyLoop {
  const shared: PeerNetwork = {
    ...options.network,
    start: async (listener) => {
      loop.listener = listener;
    },
    close: async () => {},
  };
  const isOut = limitsFault(part.study, options.limits ?? {}) !== undefined;
  // What it knew of the rows is neither said again nor overwritten, for the day when its owner allows the study.
  const memory = isOut ? { ...part.memory, saved: undefined, keep: () => {} } : part.memory;
  const own = { ...part, memory, rows: isOut ? absentRows(part.study.features.length) : part.rows };
  const isPaused = isOut || (options.isPaused ?? false);
  const device = createDevice({ ...options, ...own, isPaused, network: shared, links });
  const id = studyId(part.contract);
  const loop: StudyLoop = { ...own, id, isOut, device, listener: undefined, peers: new Set(links) };
  return loop;
}

/** The peers that it counts with from now on, of which some are connected. */
export function setStudyLoopPeers(
  /* OUT */ loop: StudyLoop,
  peers: readonly string[],
  connected: ReadonlySet<string>,
): void {
  const added = peers.filter((peer) => !loop.peers.has(peer));
  if (added.length === 0 && peers.length === loop.peers.size) return;
  loop.peers = new Set(peers);
  loop.device.setLinks(peers);
  for (const peer of added) if (connected.has(peer)) loop.listener?.onConnect(peer);
}

/**
 * One device of a real network: the loop that computes, sends and remembers.
 * @example const device = createDevice({ study, contract: await contractOf(study), network, clock, memory, rows });
 */
export function createDevice(options: DeviceOptions): Device {
  return keepsHistory(options.study) ? new HistoryWatch(options, createLoop) : createLoop(options);
}

function createLoop(options: DeviceOptions): HistoryDevice {
  // What a study leaves open is found out by masked sums, whichever clusters follow.
  const isShared = options.study.clusters === "shared" || isOpenStudy(options.study);
  return isShared ? new SharedLoop(options) : new PersonalLoop(options);
}
