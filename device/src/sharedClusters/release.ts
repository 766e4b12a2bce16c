// The sums of a private study: a few rounds that each ask rows once, with a share of noise from every device; and what follows
// from the sums of all, in which nobody's rows are asked about again.

import type { RandomBytes } from "@fedkm/core/privacy";
import {
  type Knowledge,
  knowledgeLength,
  muOf,
  noisyIntegers,
  nothingKnown,
  packKnowledge,
  partDeviation,
  type ReleaseRound,
  type ReleaseRules,
  releaseRounds,
  STEPS,
  unpackKnowledge,
  type WeighedRows,
} from "@fedkm/core/release";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { type ReleaseRequest, sumsTag } from "../privacy/privateRows.ts";
import { budgetOf, type Study } from "../study/study.ts";
import { type Base, type Content, stages } from "./generation.ts";
import { emptyRoster, isPlaceOf, isSafe, type Roster } from "./roster.ts";

/** What a private study says of its releases. */
export interface ReleasePlan {
  /** A release is made with so many devices at least. */
  readonly devices: number;
  readonly colluders: number;
  readonly rules: ReleaseRules;
  readonly rounds: readonly ReleaseRound[];
}

/** More cannot be counted in steps of a double. */
const MOST_ROWS = 2 ** 28;

export function releasePlan(study: Study, ranges: Float64Array): ReleasePlan | undefined {
  if (study.privacy !== "private") return undefined;
  const { epsilon, delta } = budgetOf(study);
  const { k, devices = 0, colluders = 1 } = study;
  const [low, high] = [ranges.map((range) => -range / 2), ranges.map((range) => range / 2)];
  const rules = { k, low, high, mu: muOf(epsilon, delta), seed: 0 };
  return { devices, colluders, rules, rounds: releaseRounds(rules) };
}

/** What was known before a round; undefined: these numbers are none of a release. */
function knownIn(
  { rules }: ReleasePlan,
  { steps, numbers }: Pick<Content, "steps" | "numbers">,
): Knowledge | undefined {
  return steps === 0 ? nothingKnown : unpackKnowledge(rules, numbers);
}

export function releaseSizes(
  releasing: ReleasePlan,
  { stage, steps, numbers }: Pick<Content, "stage" | "steps"> & Partial<Pick<Content, "numbers">>,
): { numbers: number; integers: number } {
  const { rules, rounds } = releasing;
  if (stage === stages.frozen) return { numbers: rules.k * rules.low.length, integers: 0 };
  const known = numbers && stage === stages.release && knownIn(releasing, { steps, numbers });
  const parts = (known && rounds[steps]?.parts(known)) || [];
  const integers = parts.reduce((sum, { length }) => sum + length, 0);
  return { numbers: steps === 0 ? 0 : knowledgeLength(rules), integers };
}

/** Where a private study begins, for this answer: with who is there. */
export function census(version: number): Content {
  const roster = emptyRoster(version);
  return { stage: stages.census, steps: 0, rows: 0, seeded: 0, numbers: new Float64Array(0), roster };
}

/**
 * Whether rows may be added to sums over these devices. Later rounds go on with those that are left: their noise is that of a
 * whole release, and the rounds before would be paid for nothing.
 */
function isEnough({ devices, colluders }: ReleasePlan, steps: number, roster: Roster): boolean {
  return (steps > 0 || roster.ids.length >= devices) && isSafe(roster, colluders);
}

/** Too few devices rest until somebody comes, or links to others. */
export function afterCensus(releasing: ReleasePlan, content: Content, roster: Roster): Content {
  return { ...content, stage: isEnough(releasing, content.steps, roster) ? stages.release : stages.rest, roster };
}

/** Rosters that were looked at: the look takes longer the larger they are. */
const looked = new WeakMap<Roster, boolean>();

/**
 * Whether a device with these links may add to the sums of a generation. Private rows are added to sums over devices that
 * all know of each other, or not at all.
 */
export function mayAdd(
  releasing: ReleasePlan | undefined,
  { stage, steps, roster }: Content,
  id: string,
  partners: readonly { readonly id: string }[],
): boolean {
  if (releasing === undefined || stage === stages.census) return true;
  const named = partners.map((partner) => partner.id);
  if (roster === undefined || !isPlaceOf(roster, id, named)) return false;
  const isGood = looked.get(roster) ?? isEnough(releasing, steps, roster);
  looked.set(roster, isGood);
  return isGood;
}

/** Equal for sums over the same devices, for the same answer and after the same rounds, however they are linked. */
export function nameOfSums({ roster, steps, numbers }: Content): string {
  const known = new Uint8Array(Float64Array.from(numbers).buffer);
  return bytesToHex(sha256(concatBytes(utf8ToBytes(JSON.stringify([roster?.version, roster?.ids, steps])), known)));
}

/** What a generation asks of private rows, or asked of them before the keys. */
export function releaseRequest(content: Content & Pick<Base, "number">): ReleaseRequest {
  const { stage, steps, roster, number } = content;
  const { version, ids } = roster ?? emptyRoster(0);
  const at = stage === stages.keys ? number - 1 : number;
  return { stage: `round ${steps + 1}`, of: nameOfSums(content), version, among: ids, at };
}

/** Sums of rows, and the variance that the noise of all devices together must have. */
interface NoisySums {
  readonly values: Float64Array;
  readonly variance: number;
}

/** What a round asks of rows, without noise; nothing where its numbers are none of a release. */
export function askedSums(releasing: ReleasePlan, content: Content, points: WeighedRows): NoisySums[] {
  const { rules, rounds } = releasing;
  const known = knownIn(releasing, content);
  const round = rounds[content.steps];
  if (known === undefined || round === undefined) return [];
  const integers = round.integers(known, points);
  let at = 0;
  return round.parts(known).map((part) => {
    const values = integers.subarray(at, at + part.length);
    at += part.length;
    return { values, variance: partDeviation(rules, part) ** 2 };
  });
}

/** What the rows of a device add, with its share of the noise. At most `colluders` of all devices add none. */
export function sharedReleaseIntegers(
  releasing: ReleasePlan,
  content: Content,
  points: WeighedRows,
  bytes: RandomBytes,
): Float64Array {
  const { rules, rounds, colluders } = releasing;
  const honest = (content.roster?.ids.length ?? 0) - colluders;
  const known = knownIn(releasing, content);
  const round = rounds[content.steps];
  if (known === undefined || round === undefined) return new Float64Array(0);
  return noisyIntegers(rules, round, known, points, honest, bytes);
}

/** What the totals of a round say of clusters, if it asks for rows around centroids: their counts and sums of offsets. */
export function offsetsOf(releasing: ReleasePlan, content: Content, totals: Float64Array) {
  const { k, low } = releasing.rules;
  const known = knownIn(releasing, content);
  const parts = known && releasing.rounds[content.steps]?.parts(known);
  if (parts?.length !== 3 || known?.centroids.length !== k * low.length) return undefined;
  return {
    centroids: known.centroids,
    counts: Array.from(totals.subarray(0, k), (total) => total / STEPS),
    offsets: Array.from(totals.subarray(k, k + k * low.length), (total) => total * parts[1].unit),
  };
}

/** What is known after a round; the centroids of the last one are the answer, and stay. */
export function afterRound(
  releasing: ReleasePlan,
  content: Content,
  totals: Float64Array,
  devices: number,
): Content | "implausible" {
  const { rules, rounds, colluders } = releasing;
  const before = knownIn(releasing, content);
  if (before === undefined || totals.some((total) => Math.abs(total) > MOST_ROWS * STEPS)) return "implausible";
  // The noise of all together is that of the release and what colluders' shares may have added.
  const known = rounds[content.steps].learn(before, totals, devices / (devices - colluders));
  // Of the sums that were just read: who was away can tell whether its own were among them.
  const seeded = sumsTag(nameOfSums(content));
  const found = { ...content, steps: content.steps + 1, rows: Math.round(known.scale[0]), seeded };
  if (found.steps < rounds.length) return { ...found, stage: stages.release, numbers: packKnowledge(rules, known) };
  const roster = emptyRoster(content.roster?.version ?? 0);
  return { ...found, stage: stages.frozen, numbers: known.centroids, roster };
}
