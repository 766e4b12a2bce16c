// The audit of one device by a recording of it: what its neighbours could compute, held against its own rows.

import type { Matrix } from "@fedkm/core";
import type { Secrets } from "../../device/src/keys/nodeSecrets.ts";
import { contractOf, type Study, studyId } from "../../device/src/study/study.ts";
import { scaleRows } from "../../device/src/study/units.ts";
import type { Recording } from "../../device/src/wire/recording.ts";
import { rowsInUse } from "./counted.ts";
import { publishedGroups } from "./judge.ts";
import { groupsFound, reconstruct, rowSpaceOutcome, rowsOutcome, sketchesOutcome } from "./judged.ts";
import { observedBy } from "./observation.ts";
import { type Outcome, type Tally, tally } from "./outcome.ts";
import { sharedOutcomes } from "./recordedShared.ts";
import { featureRanges, publicRules } from "./scenario.ts";

export interface RecordedDevice {
  readonly recordings: readonly Recording[];
  /** The device that was recorded, as its folder has it. */
  readonly self: string;
  readonly study: Study;
  /** Its rows now, in the features' units. */
  readonly rows: Matrix;
  /** What it has written down of guarded rows. */
  readonly history: Uint8Array | undefined;
  /** With shared clusters. */
  readonly secrets?: Secrets;
}

export interface RecordedAudit {
  readonly tallies: readonly Tally[];
  readonly frames: number;
  readonly neighbours: number;
}

export async function auditRecording({
  recordings,
  self,
  study,
  rows,
  history,
  secrets,
}: RecordedDevice): Promise<RecordedAudit> {
  const contract = await contractOf(study);
  for (const { header } of recordings) {
    if (header.peer !== self) throw new RangeError(`a recording must be of ${self}, got one of ${header.peer}`);
    if (header.study !== studyId(contract)) {
      throw new RangeError(`a recording must be of study ${studyId(contract)}, got one of ${header.study}`);
    }
  }
  const events = recordings.flatMap((recording) => recording.events);
  const peers = [...new Set(events.map(({ peer }) => peer))];
  if (secrets !== undefined) {
    const outcomes = sharedOutcomes({ study, contract, events, rows, secrets });
    const frames = events.filter(({ kind }) => kind === "sent").length;
    return { tallies: tally(outcomes), frames, neighbours: peers.length };
  }
  const rules = publicRules(study);
  const counted = rowsInUse(study, history);
  const truth = { ...(counted ?? { points: scaleRows(study, rows) }), ranges: featureRanges(study) };
  const readBy = (some?: readonly string[]) =>
    reconstruct(observedBy(contract, self, events, some).messages, rules, study.k * study.minimum);
  const seen = observedBy(contract, self, events);
  const all = readBy();
  const claimed = (how: string) => all.claims.filter((claim) => claim.how === how);
  const outcomes: Outcome[] = [
    {
      ...rowsOutcome(peers.length > 1 ? "coalition" : "inversion", claimed("moved"), truth),
      groups: groupsFound(all, truth),
    },
    ...(peers.length > 1 ? peers : []).map((peer) => {
      const one = readBy([peer]);
      return { ...rowsOutcome("bystander", one.claims, truth), groups: groupsFound(one, truth) };
    }),
    sketchesOutcome(seen.sketches.slice(-1), truth, truth),
    rowsOutcome("added row", claimed("added"), truth),
    // Who was deleted is not among the rows any more, so nobody can say whether these claims are right.
    { attack: "deleted row", rows: 0, wrong: claimed("deleted").length },
    rowSpaceOutcome(seen.messages.flatMap((message) => publishedGroups(message, truth, rules) ?? [])),
  ];
  return { tallies: tally(outcomes), frames: seen.frames, neighbours: peers.length };
}
