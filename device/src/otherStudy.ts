// Neighbours of another study: both sides send theirs, say what differs, and send nothing more until it is the same.

import type { Neighbour } from "./loop/neighbours.ts";
import type { PeerNetwork } from "./network.ts";
import { canonicalStudy, differenceFrom, type Study } from "./study/study.ts";
import { type Contract, encodeStudyFrame } from "./wire/studyFrames.ts";

/** What a device does this with. */
interface StudyContext {
  readonly study: Study;
  readonly contract: Contract;
  readonly network: PeerNetwork;
  readonly notice?: (line: string) => void;
}

/** A neighbour of another study is sent ours, so that it can say what differs. */
export function sendStudy({ study, contract, network }: StudyContext, neighbour: Neighbour): void {
  if (neighbour.studySent || !neighbour.isConnected) return;
  neighbour.studySent = true;
  network.send(neighbour.peer, encodeStudyFrame(contract, canonicalStudy(study)));
}

/** It is sent nothing more until it has our study. */
export function hearStudy(parts: StudyContext, neighbour: Neighbour, theirs: string): void {
  // One text a connection: reading it costs more than a frame.
  if (neighbour.studyHeard) return;
  const difference = differenceFrom(parts.study, theirs);
  if (difference === undefined) return;
  sendStudy(parts, neighbour);
  neighbour.studyHeard = true;
  neighbour.refusal = `another study, ${difference}`;
  parts.notice?.(`${neighbour.peer} is refused: ${neighbour.refusal}`);
}
