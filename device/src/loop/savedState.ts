// What a device remembers from one start to the next, as plain data, and who keeps it.

import type { HistoryMemory } from "../privacy/history.ts";
import { type HistoryHeads, headsMemory } from "../privacy/historyHeads.ts";
import { type Contract, type Stamp, studyId } from "../wire/frames.ts";
import type { SignedHead } from "../wire/historyFrames.ts";
import type { SavedSketch } from "./sketch.ts";

export interface SavedNeighbour extends Stamp {
  readonly peer: string;
  readonly start: number;
  readonly centroids: readonly (readonly number[])[];
}

export interface SavedOpening {
  readonly number: number;
  readonly start: number;
  readonly sketches: readonly SavedSketch[];
}

/** Where a device with shared clusters was; see sharedClusters/proof.ts. */
interface SavedGeneration {
  /** The frame that proves it, in hex. */
  readonly proof: string;
  /** Devices that are no inventions, by the first half of their keys. */
  readonly known: readonly string[];
  /** Against members that are left out for good, in hex; see sharedClusters/books.ts. */
  readonly evidence: readonly string[];
}

/** A device's state as its file has it. */
export interface SavedState {
  /** Hash of the study these centroids belong to, in hex. */
  readonly study: string;
  readonly round: number;
  readonly opening: SavedOpening;
  /** The first k-means, and a fingerprint of the rows that it was made of. */
  readonly own: { readonly fingerprint: number; readonly centroids: readonly (readonly number[])[] } | null;
  /** Of the own rows. */
  readonly sketch: SavedSketch | null;
  readonly centroids: readonly (readonly number[])[];
  /** Which centroids may be sent. */
  readonly present: readonly boolean[];
  readonly neighbours: readonly SavedNeighbour[];
  /** Of shared clusters only. */
  readonly generation?: SavedGeneration;
  /** Of a guarded open study: what was told of the rows, which must stay the same; see sharedClusters/description.ts. */
  readonly table?: unknown;
}

export interface DeviceMemory {
  /** Larger than at any earlier start, and safe from a crash before anything is sent. */
  readonly epoch: number;
  /** As last kept before this start. */
  readonly saved: SavedState | undefined;
  /** Keeps the latest state, not every one: asks for it when it is about to write. */
  keep(state: () => SavedState): void;
  /** Absent where nothing outlives the process. */
  readonly history?: HistoryMemory;
  /** How far the histories of neighbours had come when they were last seen. Absent where nothing outlives the process. */
  readonly neighbourHeads?: {
    readonly saved: ReadonlyMap<string, SignedHead>;
    keep(heads: ReadonlyMap<string, SignedHead>): void;
  };
  /** The next start's epoch is to be above this one. Absent where nothing outlives the process. */
  goAbove?(epoch: number): void;
}

/** What was saved for this study, if it is of the right shape: a file can be edited, and older versions differ. */
export function usableState(saved: SavedState | undefined, { k, d, hash }: Contract): SavedState | undefined {
  if (saved === undefined || saved.study !== studyId({ hash })) return undefined;
  const isShaped = (rows: unknown, most: boolean) =>
    Array.isArray(rows) &&
    (most ? rows.length > 0 && rows.length <= k : rows.length === k) &&
    rows.every((row) => Array.isArray(row) && row.length === d && row.every((x) => Number.isFinite(x)));
  const isWhole =
    Number.isSafeInteger(saved.round) &&
    isShaped(saved.centroids, false) &&
    Array.isArray(saved.present) &&
    saved.present.length === k &&
    Array.isArray(saved.neighbours) &&
    saved.neighbours.every(({ centroids }) => isShaped(centroids, true)) &&
    (saved.own === null || isShaped(saved.own?.centroids, false)) &&
    Number.isSafeInteger(saved.opening?.number) &&
    Array.isArray(saved.opening.sketches) &&
    [...saved.opening.sketches, ...(saved.sketch == null ? [] : [saved.sketch])].every(
      ({ shares, centroids }) =>
        shares?.length === k && centroids?.length === k * d && centroids.every(Number.isFinite),
    );
  return isWhole ? saved : undefined;
}

/** What devices of a simulation know of each other's histories. */
export interface SimulatedHeads {
  readonly own: HistoryHeads;
  readonly neighbours: ReadonlyMap<string, SignedHead>;
}

/** A memory that forgets with the process: for simulations and browsers. With heads it can be told from an old copy. */
export function volatileMemory(epoch: number, saved?: SavedState, published?: Uint8Array, given?: SimulatedHeads) {
  let latest = () => saved;
  let history = published;
  let neighbours = given?.neighbours ?? new Map<string, SignedHead>();
  let writes = 0;
  const newMark = () => `${epoch.toString(16).padStart(16, "0")}${(++writes).toString(16).padStart(16, "0")}`;
  const heads = given && headsMemory(given.own, newMark, () => {});
  return {
    epoch,
    saved,
    keep: (state: () => SavedState) => {
      latest = state;
    },
    history: {
      saved: published,
      isLost: given?.own.isOld ?? false,
      keep(bytes: Uint8Array, done: (failure: string | undefined) => void) {
        history = bytes;
        heads?.follow(heads.next());
        done(undefined);
      },
      ...(heads && { heads }),
    },
    neighbourHeads: {
      saved: neighbours,
      keep(found: ReadonlyMap<string, SignedHead>) {
        neighbours = found;
      },
    },
    latest: () => latest(),
    latestHistory: () => history,
    latestHeads: (): SimulatedHeads | undefined => heads && { own: heads.latest(), neighbours: new Map(neighbours) },
  };
}
