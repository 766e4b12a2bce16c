// What neighbours of a device see: its frames in order, what it knew of the neighbours at each of them, its own sketches.

import type { Matrix } from "@fedkm/core";
import type { Contract } from "@fedkm/device";
import {
  type CentroidsFrame,
  type DeviceSketch,
  decodeFrame,
  originHash,
  type RecordedEvent,
  type Stamp,
} from "@fedkm/device/inspect";

/** One frame that a device sent with news in it, as its neighbours understand it. */
export interface ObservedMessage {
  /** Milliseconds of the recording. */
  readonly at: number;
  readonly stamp: Stamp;
  /** All k of them. */
  readonly centroids: Matrix;
  /** Of the message before, if it was of the same start. */
  readonly before: Matrix | undefined;
  /** Which centroids of neighbours the update may have counted, the likeliest first. The truth is hidden from nobody who
   *  has sent them, but for the few milliseconds in which frames cross. */
  readonly neighbours: readonly (readonly Matrix[])[];
}

export interface Observation {
  readonly messages: readonly ObservedMessage[];
  /** Of the device itself, oldest first. They travel to every device of the network. */
  readonly sketches: readonly DeviceSketch[];
  readonly frames: number;
}

/** What the owners of these links see together; without `peers`, all neighbours. */
export function observedBy(
  contract: Contract,
  self: string,
  events: readonly RecordedEvent[],
  peers?: readonly string[],
): Observation {
  const messages: ObservedMessage[] = [];
  const sketches = new Map<number, DeviceSketch>();
  const heard = new Map<string, CentroidsFrame>();
  const gone = new Set<string>();
  const origin = originHash(self);
  let frames = 0;
  for (const { at, kind, peer, frame } of events) {
    if (peers !== undefined && !peers.includes(peer)) continue;
    if (kind === "connected") gone.delete(peer);
    if (kind === "disconnected") gone.add(peer);
    if (frame.length === 0) continue;
    const decoded = decodeFrame(contract, frame);
    if (decoded.kind !== "centroids") continue;
    if (kind === "received") {
      if (isLater(decoded.stamp, heard.get(peer)?.stamp)) heard.set(peer, decoded);
      continue;
    }
    frames++;
    for (const sketch of decoded.sketches) if (sketch.origin === origin) sketches.set(sketch.version, sketch);
    const last = messages.at(-1);
    if (decoded.centroids.rows < contract.k || !isNews(decoded, last)) continue;
    const before = last?.stamp.epoch === decoded.stamp.epoch ? last.centroids : undefined;
    const { stamp, centroids } = decoded;
    messages.push({ at, stamp, centroids, before, neighbours: counted(decoded, heard, gone) });
  }
  return { messages, sketches: [...sketches.values()], frames };
}

function isLater(stamp: Stamp, than: Stamp | undefined): boolean {
  if (than === undefined) return true;
  return stamp.epoch > than.epoch || (stamp.epoch === than.epoch && stamp.sequence > than.sequence);
}

function isNews({ centroids }: CentroidsFrame, last: ObservedMessage | undefined): boolean {
  return last === undefined || centroids.data.some((value, i) => value !== last.centroids.data[i]);
}

/** Who has begun from the same seed counts. Who is gone may have been unlinked, or be waited for. */
function counted(
  { tag }: CentroidsFrame,
  heard: ReadonlyMap<string, CentroidsFrame>,
  gone: ReadonlySet<string>,
): Matrix[][] {
  const known = Array.from(heard).filter(([, frame]) => frame.tag.start === tag.start);
  const all = known.map(([, { centroids }]) => centroids);
  const present = known.filter(([peer]) => !gone.has(peer)).map(([, { centroids }]) => centroids);
  return present.length < all.length ? [present, all] : [all];
}
