// What somebody who sees every frame of shared clusters can put together: whether a pad was used for two different
// vectors, and which devices were added up for which centroids.

import { bytesToHex } from "@noble/hashes/utils.js";
import { Board } from "../../device/src/sharedClusters/board.ts";
import { decodeShared } from "../../device/src/sharedClusters/boardFrame.ts";
import type { Entry } from "../../device/src/sharedClusters/entry.ts";
import { type Content, stages } from "../../device/src/sharedClusters/generation.ts";
import { sumsShape } from "../../device/src/sharedClusters/shape.ts";
import type { Study } from "../../device/src/study/study.ts";
import type { Contract } from "../../device/src/wire/studyFrames.ts";

/** All entries of a generation. */
export interface GenerationEntries {
  readonly hash: Uint8Array;
  readonly content: Content | undefined;
  readonly entries: readonly Entry[];
}

export interface BoardsObserver {
  see(frame: Uint8Array): void;
  /** Pads that one device used for two vectors. */
  padsTwice(): number;
  /** Centroids for which the sums of two different sets of devices are known. */
  answersTwice(): number;
  /** Masked integers of all entries. */
  maskedWords(): Uint32Array[];
  /** Sums over all devices, generation by generation, as everybody has them. */
  sums(): { readonly content: Content; readonly devices: readonly string[]; readonly totals: Float64Array }[];
  /** Entries by generation, as anybody could collect them. */
  entries(): GenerationEntries[];
}

interface ObservedGeneration {
  readonly hash: Uint8Array;
  content: Content | undefined;
  /** Every entry that was ever posted, by its mark. */
  readonly entries: Map<string, Entry>;
}

export function observeBoards(study: Study, contract: Contract): BoardsObserver {
  const read = decodeShared(sumsShape(study));
  const generations = new Map<string, ObservedGeneration>();
  const closedIn = ({ entries }: ObservedGeneration) => {
    const found = new Map<string, { devices: readonly string[]; totals: Float64Array }>();
    // A device posts again in a generation only after a start, so one board for each of its entries shows all sums.
    for (const last of entries.values()) {
      const board = new Board();
      board.add(last);
      for (const entry of entries.values()) if (entry.id !== last.id) board.add(entry);
      const closed = board.closedAround(last.id);
      if (closed !== undefined) found.set([...closed.devices].sort().join(" "), closed);
    }
    return [...found.values()];
  };
  return {
    see(frame) {
      const message = read(contract, frame);
      if (message.kind !== "board") return;
      const name = bytesToHex(message.hash);
      const seen = generations.get(name) ?? { hash: message.hash, content: undefined, entries: new Map() };
      generations.set(name, seen);
      seen.content ??= message.content;
      for (const entry of message.entries) seen.entries.set(entry.mark, entry);
    },
    padsTwice() {
      let twice = 0;
      for (const { entries } of generations.values()) {
        const used = new Map<string, string>();
        for (const { id, epoch, links, words } of entries.values()) {
          for (const [other, epochThere] of links) {
            const pad = `${id} ${epoch} ${other} ${epochThere}`;
            const vector = words.join(" ");
            if (used.has(pad) && used.get(pad) !== vector) twice++;
            used.set(pad, vector);
          }
        }
      }
      return twice;
    },
    answersTwice() {
      const answers = new Map<string, Set<string>>();
      for (const seen of generations.values()) {
        if (seen.content === undefined || seen.content.stage < stages.cores) continue;
        const asked = `${seen.content.stage} ${seen.content.numbers.join(" ")}`;
        const sets = answers.get(asked) ?? new Set();
        for (const { devices } of closedIn(seen)) sets.add([...devices].sort().join(" "));
        answers.set(asked, sets);
      }
      return [...answers.values()].filter(({ size }) => size > 1).length;
    },
    maskedWords: () =>
      [...generations.values()].flatMap(({ entries }) => Array.from(entries.values(), ({ words }) => words)),
    sums: () =>
      [...generations.values()].flatMap((seen) => {
        const { content } = seen;
        return content === undefined ? [] : closedIn(seen).map((closed) => ({ content, ...closed }));
      }),
    entries: () =>
      Array.from(generations.values(), ({ hash, content, entries }) => ({
        hash,
        content,
        entries: [...entries.values()],
      })),
  };
}
