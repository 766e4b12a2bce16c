// What two neighbours say to each other when one refuses the other's frames: because their stamps go back (an earlier epoch,
// or a key that two devices use), or because they are of another study.

import { canonicalStudy, differenceFrom } from "../study/study.ts";
import { HEARTBEAT_MILLISECONDS, LARGEST_LEARNT_EPOCH } from "../wire/limits.ts";
import { encodeOrderFrame, encodeStudyFrame, type OrderReport } from "../wire/studyFrames.ts";
import type { DeviceOptions } from "./device.ts";
import type { FrameVerdict } from "./frameFilter.ts";
import { isNeighbourRecent, type Neighbour } from "./neighbours.ts";

/** What follows from a verdict but for the content of the study: two studies are compared, and the order is kept. */
export function answerRefusedFrame(options: DeviceOptions, neighbour: Neighbour, verdict: FrameVerdict): void {
  if (verdict.kind === "study") hearStudy(options, neighbour, verdict.text);
  if (verdict.kind === "refused" && verdict.reason === "study") sendStudy(options, neighbour);
  if (verdict.kind === "refused" && verdict.reason === "order") sendRefusedOrder(options, neighbour);
  if (verdict.kind === "order") hearOrder(options, neighbour, verdict.order);
}

/** A neighbour of another study is sent ours, so that it can say what differs. */
function sendStudy({ study, contract, network }: DeviceOptions, neighbour: Neighbour): void {
  if (neighbour.studySent || !neighbour.isConnected) return;
  neighbour.studySent = true;
  network.send(neighbour.peer, encodeStudyFrame(contract, canonicalStudy(study)));
}

/** It is sent nothing more until it has our study. */
function hearStudy(options: DeviceOptions, neighbour: Neighbour, theirs: string): void {
  // One text a connection: reading it costs more than a frame.
  if (neighbour.studyHeard) return;
  const difference = differenceFrom(options.study, theirs);
  if (difference === undefined) return;
  sendStudy(options, neighbour);
  neighbour.studyHeard = true;
  neighbour.refusal = `another study, ${difference}`;
  options.notice?.(`${neighbour.peer} is refused: ${neighbour.refusal}`);
}

/** What a neighbour answered to frames of ours that it refused as old. */
function hearOrder({ clock, memory }: DeviceOptions, neighbour: Neighbour, order: OrderReport): void {
  const { taken, refused } = order;
  // About an earlier start of ours, and over.
  if (taken.epoch < memory.epoch) return;
  neighbour.order = { ...order, at: clock.now() };
  // A lie must not use up all numbers.
  if (refused === memory.epoch && taken.epoch <= LARGEST_LEARNT_EPOCH) memory.goAbove?.(taken.epoch);
}

/** A neighbour whose older frames are refused is sent what was taken last from it, if that is due. */
export function sendRefusedOrder({ contract, network, clock }: DeviceOptions, neighbour: Neighbour): void {
  const { last, rival } = neighbour.filter;
  const now = clock.now();
  if (last === undefined || rival === undefined || !neighbour.isConnected || !isNeighbourRecent(rival.at, now)) return;
  if (now < neighbour.orderSentAt + HEARTBEAT_MILLISECONDS) return;
  neighbour.orderSentAt = now;
  const isTwice = isNeighbourRecent(rival.twiceAt, now);
  network.send(neighbour.peer, encodeOrderFrame(contract, { taken: last, refused: rival.epoch, isTwice }));
}
