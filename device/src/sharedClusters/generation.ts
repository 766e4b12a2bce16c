// Bases and generations. A base is what one closed board of sums led to: a stage, and the numbers that it starts from,
// which are the centroids once the start is found. A generation is a base and the openings that members have signed for
// it: what all devices compute sums for at the same time. Whoever has the same base and openings is in the same one.

import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { ID_BYTES } from "../keys/secrets.ts";
import type { SharedStage } from "../loop/status.ts";
import { getInteger, setInteger } from "../wire/frames.ts";
import { MOST_SPENT, type Openings, openingsDigest, SPENT_BYTES, type Spent, spentOpeningsBytes } from "./openings.ts";
import { decodeRoster, type Roster, rosterBytes } from "./roster.ts";

/**
 * What is summed up, in the order in which stages follow each other, but for `codebook`, which stands before `cores` and
 * `rows`: it came later, and numbers stay. Which of them a study has is the plan's to say. All but trees and open studies
 * begin with `census`. Private studies have those up to `frozen`, with `release` and `keys` for each round; others go on with
 * the first ones. Open studies have `describe`, `described`, in which each device posts when its owner has approved, and
 * `approved`. Where k is open, `choose` and `chosen` follow on the codebook, and then `approved`. An
 * answer that is validated has `validate` before `rest`. In `frozen`, `rest` and
 * `approved` nothing is asked.
 */
export const stages = {
  moments: 0,
  grid: 1,
  means: 2,
  cores: 3,
  rows: 4,
  census: 5,
  release: 6,
  keys: 7,
  frozen: 8,
  rest: 9,
  codebook: 10,
  describe: 11,
  described: 12,
  approved: 13,
  choose: 14,
  chosen: 15,
  validate: 16,
} as const satisfies Record<SharedStage, number>;
export type Stage = (typeof stages)[keyof typeof stages];
/** By their numbers. */
export const stageNames = Object.keys(stages) as readonly SharedStage[];

/** What a generation knows: its stage, its centroids and its counts. */
export interface Content {
  readonly stage: Stage;
  /** Since the start was looked for, or since something was opened; of private studies, how many rounds are known. */
  readonly steps: number;
  /** In the sums before, over all devices; 0: not known yet. It says how many bits are left for fractions. */
  readonly rows: number;
  /**
   * Rows at the first rest since the start; 0: there was none. Twice as many rows are worth another start. Of private studies
   * the tag of the sums of the first release: who was away when they were read learns from it whether it was in them.
   */
  readonly seeded: number;
  readonly numbers: Float64Array;
  /** Of private studies only. */
  readonly roster?: Roster;
}

/** Whether the numbers are centroids. A network without rows rests without them; private ones come of the last round. */
export function hasCentroids({ stage, rows, roster }: Content): boolean {
  if (roster !== undefined) return stage === stages.frozen;
  return stage === stages.rest ? rows > 0 : stage === stages.cores || stage === stages.rows;
}

/**
 * What a generation ends with, if not with another base. "settled": nothing moves any more. "implausible": no rows within
 * the study's bounds have such sums, so somebody's are not of rows. "few": too few devices for a release of private rows,
 * or not linked closely enough.
 */
export type GenerationEnd = "settled" | "implausible" | "few";
/** What follows from the sums of rows. */
export type GenerationOutcome = Content | Exclude<GenerationEnd, "few">;

/** What everybody in a generation starts from, with all that led to it. */
export interface Base extends Content {
  /** How many boards led to it. */
  readonly number: number;
  /** The hash of the generation whose board led to it, and of that board; zeros where nothing came before. */
  readonly parent: Uint8Array;
  readonly board: Uint8Array;
  readonly spent: Spent;
  /** Of studies with founders only: the hash of the members when that board was closed. */
  readonly members?: Uint8Array;
  /** SHA-256 of the study's hash and all of the above. */
  readonly hash: Uint8Array;
}

/** One sum over all devices: a base and who takes part. */
export interface Generation extends Content {
  readonly number: number;
  readonly base: Base;
  readonly openings: Openings;
  /** Of studies with founders only: the hash of those who are members now. */
  readonly members?: Uint8Array;
  /** SHA-256 of the base's hash, the members and the openings. Entries sign it, and pads are derived from it. */
  readonly hash: Uint8Array;
}

type Digest = (bytes: Uint8Array) => Uint8Array;

/** Number 8, stage 1, nothing 1, steps 2, rows 8, seeded 8, parent 32, board 32, members that have opened 2. */
const BASE_HEAD_BYTES = 94;
export const MEMBERS_HASH_BYTES = 32;

/** A base as it is hashed, goes over the wire and into files; its hash is the reader's to compute. */
export function encodeBoardBase(base: Omit<Base, "hash">): Uint8Array {
  const { number, stage, steps, rows, seeded, numbers, roster, parent, board, spent, members } = base;
  const head = new Uint8Array(BASE_HEAD_BYTES);
  const view = new DataView(head.buffer);
  setInteger(view, 0, number);
  view.setUint8(8, stage);
  view.setUint16(10, steps, true);
  setInteger(view, 12, rows);
  setInteger(view, 20, seeded);
  head.set(parent, 28);
  head.set(board, 60);
  view.setUint16(92, spent.size, true);
  const tail = new Uint8Array(8 * numbers.length);
  const numbersView = new DataView(tail.buffer);
  for (let i = 0; i < numbers.length; i++) numbersView.setFloat64(8 * i, numbers[i], true);
  const parts = [head, spentOpeningsBytes(spent), tail, ...(roster === undefined ? [] : [rosterBytes(roster)])];
  return concatBytes(...parts, ...(members === undefined ? [] : [members]));
}

/** A base with its hash. */
export function hashedBase(base: Omit<Base, "hash">, study: Uint8Array, digest: Digest): Base {
  return { ...base, hash: digest(concatBytes(utf8ToBytes("fedkm base\n"), study, encodeBoardBase(base))) };
}

/** The base that begins there, of as many numbers as its stage has, and where it ends; undefined: there is none. */
export function decodeBoardBase(
  bytes: Uint8Array,
  at: number,
  numbersOf: (head: Pick<Content, "stage" | "steps" | "rows" | "numbers">) => number,
  isPrivate: boolean,
  isFounded: boolean,
): { readonly base: Omit<Base, "hash">; readonly end: number } | undefined {
  if (at + BASE_HEAD_BYTES > bytes.length) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const stage = Object.values(stages).find((one) => one === view.getUint8(at + 8));
  if (stage === undefined || view.getUint8(at + 9) !== 0) return undefined;
  const [number, rows, seeded] = [0, 12, 20].map((from) => getInteger(view, at + from));
  if (![number, rows, seeded].every(Number.isSafeInteger)) return undefined;
  const opened = view.getUint16(at + 92, true);
  if (opened > MOST_SPENT) return undefined;
  const numbersAt = at + BASE_HEAD_BYTES + SPENT_BYTES * opened;
  const steps = view.getUint16(at + 10, true);
  // How many numbers a description has its first one says.
  const first = numbersAt + 8 <= bytes.length ? [view.getFloat64(numbersAt, true)] : [];
  const many = numbersOf({ stage, steps, rows, numbers: Float64Array.from(first) });
  const rosterAt = numbersAt + 8 * many;
  if (rosterAt > bytes.length) return undefined;
  const spent = new Map<string, number>();
  for (let from = at + BASE_HEAD_BYTES; from < numbersAt; from += SPENT_BYTES)
    spent.set(bytesToHex(bytes.subarray(from, from + ID_BYTES)), bytes[from + ID_BYTES]);
  const found = isPrivate ? decodeRoster(bytes, rosterAt) : { roster: undefined, end: rosterAt };
  const end = (found?.end ?? 0) + (isFounded ? MEMBERS_HASH_BYTES : 0);
  if (found === undefined || spent.size !== opened || end > bytes.length) return undefined;
  const base = {
    ...{ number, stage, steps, rows, seeded },
    numbers: Float64Array.from({ length: many }, (_, i) => view.getFloat64(numbersAt + 8 * i, true)),
    ...(found.roster && { roster: found.roster }),
    ...{ parent: bytes.slice(at + 28, at + 60), board: bytes.slice(at + 60, at + 92), spent },
    ...(isFounded && { members: bytes.slice(found.end, end) }),
  };
  return { base, end };
}

export function generationHash(
  base: Base,
  openings: Openings,
  members: Uint8Array | undefined,
  digest: Digest,
): Uint8Array {
  const start = utf8ToBytes("fedkm generation\n");
  return digest(concatBytes(start, base.hash, members ?? new Uint8Array(0), openingsDigest(openings)));
}

/** Where in the order of bases one stands. */
export interface BaseOrder {
  /** 0; of private studies 64 for each version, 2 for each round that is known, 1 if the sums of another are complete. */
  readonly rank: number;
  readonly number: number;
  readonly hash: Uint8Array;
}

/** By which of two bases a device goes on: the later one. */
export function orderOf({ roster, stage, steps, number, hash }: Base): BaseOrder {
  const rank = roster === undefined ? 0 : 64 * roster.version + 2 * steps + (stage === stages.keys ? 1 : 0);
  return { rank, number, hash };
}

/** What is further in a private release is later, then more boards are; of two with one number the larger hash. */
export function compareBases(a: BaseOrder, b: BaseOrder): number {
  if (a.rank !== b.rank) return a.rank - b.rank;
  if (a.number !== b.number) return a.number - b.number;
  const at = a.hash.findIndex((byte, i) => byte !== b.hash[i]);
  return at < 0 ? 0 : a.hash[at] - b.hash[at];
}
