// The audit of a study, by every attack on many simulated networks, and of one device, by a recording of it.

import type { Matrix } from "@fedkm/core";
import { type Contract, contractOf, isOpenStudy, type Study, scaleRows, studyId } from "@fedkm/device";
import type { RecordedEvent, Recording } from "@fedkm/device/inspect";
import { fromInt64s, idOf, padSeeds, type Secrets, stages } from "@fedkm/device/shared";
import { activeAttacks } from "./activeAttacks.ts";
import { coalitionEntry, type GenerationTotals, observeBoards } from "./boards.ts";
import { openStudyAttacks } from "./describing.ts";
import { growthOutcome } from "./growth.ts";
import {
  groupsFound,
  judgedGroups,
  judgedRows,
  reconstruct,
  rowSpaceOutcome,
  rowsOutcome,
  sketchesOutcome,
} from "./judge.ts";
import { observedBy } from "./observation.ts";
import { type Outcome, type Tally, tallyAttacks } from "./outcome.ts";
import { passiveAttacks } from "./passiveAttacks.ts";
import { attackedRanges, attackRules, attackScenario } from "./scenario.ts";
import { bareOutcome, sharedAttacks, totalsOutcome } from "./sharedAttacks.ts";

/**
 * A device with shared clusters: what anybody reads from the totals, and what all its neighbours together know, who
 * can take every pad off its entries: a pad is known at both ends of a link.
 */
function sharedOutcomes(
  { study, rows }: RecordedDevice,
  contract: Contract,
  events: readonly RecordedEvent[],
  secrets: Secrets,
): Outcome[] {
  const seen = observeBoards(study, contract, secrets);
  for (const { frame } of events) if (frame.length > 0) seen.see(frame);
  const peers = [...new Set(events.map(({ peer }) => peer))];
  const peerOf = new Map(peers.map((peer) => [idOf(secrets.keyOf(peer)), peer]));
  const self = idOf(secrets.key);
  const own = seen.entries().flatMap(({ hash, content, entries }): GenerationTotals[] => {
    if (content?.stage !== stages.rows && content?.stage !== stages.release) return [];
    return entries
      .filter(({ id, links }) => id === self && [...links.keys()].every((other) => peerOf.has(other)))
      .map((entry) => {
        const bared = coalitionEntry(secrets, entry, (id, epoch) => {
          const partners = [{ peer: peerOf.get(id) ?? "", id, epoch }];
          return padSeeds(secrets, hash, { epoch: entry.epoch, partners }).get(id);
        });
        return { content, totals: fromInt64s(bared) };
      });
  });
  return [bareOutcome("coalition", own, [rows], study), totalsOutcome("totals", seen.sums(), [rows], study, new Set())];
}

interface RecordedDevice {
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

/** What was found in recordings. */
export interface RecordedAudit {
  readonly tallies: readonly Tally[];
  readonly frames: number;
  readonly neighbours: number;
}

/** What the neighbours in recordings of a device could compute from them. */
export async function auditRecording(device: RecordedDevice): Promise<RecordedAudit> {
  const { recordings, self, study, rows, history, secrets } = device;
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
    const outcomes = sharedOutcomes(device, contract, events, secrets);
    const frames = events.filter(({ kind }) => kind === "sent").length;
    return { tallies: tallyAttacks(outcomes), frames, neighbours: peers.length };
  }
  const rules = attackRules(study);
  const counted = judgedRows(study, history);
  const truth = { ...(counted ?? { points: scaleRows(study, rows) }), ranges: attackedRanges(study) };
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
    rowSpaceOutcome(seen.messages.flatMap((message) => judgedGroups(message, truth, rules) ?? [])),
  ];
  return { tallies: tallyAttacks(outcomes), frames: seen.frames, neighbours: peers.length };
}

/** Which networks are attacked, and how often. */
export interface AuditOptions {
  /** The study whose network is attacked. */
  readonly study: Study;
  /** Rows of devices, in the features' units; none: they are drawn anew for each run. */
  readonly datasets: readonly Matrix[];
  /** How many networks are simulated. */
  readonly runs: number;
  /** All chance follows from it. */
  readonly seed: number;
  /** After every run. */
  readonly onRun?: (done: number) => void | Promise<void>;
}

/** Attacks simulated networks of a study. */
export async function auditStudy({ study, datasets, runs, seed, onRun }: AuditOptions): Promise<Tally[]> {
  const outcomes: Outcome[] = [];
  for (let run = 0; run < runs; run++) {
    const scene = await attackScenario(study, datasets, seed + run);
    if (isOpenStudy(study)) outcomes.push(...(await openStudyAttacks(scene)));
    else if (study.clusters === "shared") outcomes.push(...sharedAttacks(scene), ...growthOutcome(scene));
    else outcomes.push(...passiveAttacks(scene), ...activeAttacks(scene), ...growthOutcome(scene));
    await onRun?.(run + 1);
  }
  return tallyAttacks(outcomes);
}
