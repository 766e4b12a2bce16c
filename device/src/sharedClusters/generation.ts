// A generation: what all devices compute sums for at the same time. Its number, its stage, and the numbers that the
// stage starts from, which are the centroids once the seed is found. Whoever has its bytes has the same generation.

import { concatBytes } from "@noble/hashes/utils.js";
import type { SharedStage } from "../loop/status.ts";
import { setInteger } from "../wire/frames.ts";
import { type Roster, rosterBytes } from "./roster.ts";

/**
 * What is summed up, in the order in which stages follow each other. Which of them a study has is the plan's to say.
 * Private studies have those from `census` to `frozen`, and sums over a tree end with `rest`.
 */
export const stages = {
  moments: 0,
  grid: 1,
  means: 2,
  cores: 3,
  rows: 4,
  census: 5,
  cells: 6,
  offsets: 7,
  frozen: 8,
  rest: 9,
} as const satisfies Record<SharedStage, number>;
export type Stage = (typeof stages)[keyof typeof stages];

/** Whether the numbers of a stage are centroids. */
export function hasCentroids(stage: Stage): boolean {
  return stage >= stages.cores && stage !== stages.census && stage !== stages.cells;
}

/** Whether a generation of this stage has a roster. */
export const hasRoster = (stage: Stage) => stage >= stages.census && stage <= stages.frozen;

export interface Content {
  readonly stage: Stage;
  /** Since the seed was begun, or since something was bumped. */
  readonly steps: number;
  /** In the sums before, over all devices; 0: not known yet. It says how many bits are left for fractions. */
  readonly rows: number;
  /** When the clusters were first counted; 0: not yet. Twice as many rows are worth another seed. */
  readonly seeded: number;
  readonly numbers: Float64Array;
  /** Of private studies only. */
  readonly roster?: Roster;
}

/**
 * What a generation ends with, if not with another one. "settled": nothing moves any more. "implausible": no rows within
 * the study's bounds have such sums, so somebody's are not of rows. "few": too few devices for a release of private rows,
 * or not linked closely enough.
 */
export type GenerationEnd = "settled" | "implausible" | "few";
/** What follows from the sums of rows. */
export type GenerationOutcome = Content | Exclude<GenerationEnd, "few">;

export interface Generation extends Content {
  readonly number: number;
  /** SHA-256 of the study's hash and all of the above. */
  readonly hash: Uint8Array;
}

/** Number 8, stage 1, nothing 1, steps 2, rows 8, seeded 8. */
export const GENERATION_HEAD_BYTES = 28;

export function generationBytes(generation: Omit<Generation, "hash">): Uint8Array {
  const { number, stage, steps, rows, seeded, numbers, roster } = generation;
  const bytes = new Uint8Array(GENERATION_HEAD_BYTES + 8 * numbers.length);
  const view = new DataView(bytes.buffer);
  setInteger(view, 0, number);
  view.setUint8(8, stage);
  view.setUint16(10, steps, true);
  setInteger(view, 12, rows);
  setInteger(view, 20, seeded);
  for (let i = 0; i < numbers.length; i++) view.setFloat64(GENERATION_HEAD_BYTES + 8 * i, numbers[i], true);
  return roster === undefined ? bytes : concatBytes(bytes, rosterBytes(roster));
}

export function generation(
  number: number,
  { stage, steps, rows, seeded, numbers, roster }: Content,
  study: Uint8Array,
  digest: (bytes: Uint8Array) => Uint8Array,
): Generation {
  const said = { number, stage, steps, rows, seeded, numbers, ...(roster && { roster }) };
  return { ...said, hash: digest(concatBytes(study, generationBytes(said))) };
}

type GenerationName = Pick<Generation, "number" | "hash">;

/** Later generations have larger numbers; of two with one number, the larger hash counts everywhere. */
export function compareGenerations(a: GenerationName, b: GenerationName): number {
  if (a.number !== b.number) return a.number - b.number;
  const at = a.hash.findIndex((byte, i) => byte !== b.hash[i]);
  return at < 0 ? 0 : a.hash[at] - b.hash[at];
}
