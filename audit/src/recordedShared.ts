// The audit of a device with shared clusters by a recording of it: what anybody reads from the totals, and what all its
// neighbours together know, who can take every pad off its entries.

import type { Matrix } from "@fedkm/core";
import { idOf, type Secrets } from "../../device/src/keys/nodeSecrets.ts";
import { type Entry, padBetween } from "../../device/src/sharedClusters/entry.ts";
import { stages } from "../../device/src/sharedClusters/generation.ts";
import type { Study } from "../../device/src/study/study.ts";
import { addInt64s, fromInt64s, subtractInt64s } from "../../device/src/wire/int64.ts";
import type { RecordedEvent } from "../../device/src/wire/recording.ts";
import type { Contract } from "../../device/src/wire/studyFrames.ts";
import { observeBoards } from "./boards.ts";
import { totalsOutcome } from "./judgedTotals.ts";
import type { GenerationTotals } from "./moving.ts";
import type { Outcome } from "./outcome.ts";

export interface SharedRecording {
  readonly study: Study;
  readonly contract: Contract;
  readonly events: readonly RecordedEvent[];
  /** In the features' units. */
  readonly rows: Matrix;
  /** Of the device itself: a pad is known at both ends of a link. */
  readonly secrets: Secrets;
}

export function sharedOutcomes({ study, contract, events, rows, secrets }: SharedRecording): Outcome[] {
  const seen = observeBoards(study, contract);
  for (const { frame } of events) if (frame.length > 0) seen.see(frame);
  const peers = [...new Set(events.map(({ peer }) => peer))];
  const peerOf = new Map(peers.map((peer) => [idOf(secrets.keyOf(peer)), peer]));
  const self = idOf(secrets.key);
  const own = seen.entries().flatMap(({ hash, content, entries }): GenerationTotals[] => {
    if (content?.stage !== stages.rows && content?.stage !== stages.offsets) return [];
    return entries
      .filter(({ id, links }) => id === self && [...links.keys()].every((other) => peerOf.has(other)))
      .map((entry) => ({ content, totals: fromInt64s(withoutOwnPads(entry, hash, secrets, peerOf)) }));
  });
  const coalition = totalsOutcome("coalition", own, [rows], study, new Set());
  return [
    // Counts and sums of its clusters, as they are; private ones have the noise of the device.
    own.length > 0 && study.privacy !== "private" ? { ...coalition, groups: 0 } : coalition,
    totalsOutcome("totals", seen.sums(), [rows], study, new Set()),
  ];
}

/** The own entry without pads. */
function withoutOwnPads(
  { id, epoch, links, words }: Entry,
  hash: Uint8Array,
  secrets: Secrets,
  peerOf: ReadonlyMap<string, string>,
) {
  const left = words.slice();
  for (const [other, epochThere] of links) {
    const partner = { peer: peerOf.get(other) ?? "", id: other, epoch: epochThere };
    const pad = padBetween(secrets, hash, { id, epoch }, partner, words.length / 2);
    (id < other ? subtractInt64s : addInt64s)(left, pad);
  }
  return left;
}
