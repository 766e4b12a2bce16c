// What shared clusters must never do, counted over everything that was posted: use a pad twice, answer twice.

import type { observeBoards } from "@fedkm/audit";

type Boards = ReturnType<typeof observeBoards>;

/** Pads that one device used for two vectors. */
export function padsTwice(seen: Pick<Boards, "entries">): number {
  let twice = 0;
  for (const { entries } of seen.entries()) {
    const used = new Map<string, string>();
    for (const { id, epoch, links, words } of entries) {
      for (const [other, epochThere] of links) {
        const pad = `${id} ${epoch} ${other} ${epochThere}`;
        const vector = words.join(" ");
        if (used.has(pad) && used.get(pad) !== vector) twice++;
        used.set(pad, vector);
      }
    }
  }
  return twice;
}

/** Centroids, or cells of a grid, for which the sums of two different sets of devices are known. */
export function answersTwice(seen: Pick<Boards, "sums">): number {
  const answers = new Map<string, Set<string>>();
  for (const { content, devices } of seen.sums()) {
    // A census and moments ask for nothing in particular.
    if (content.numbers.length === 0) continue;
    const asked = `${content.stage} ${content.numbers.join(" ")}`;
    answers.set(asked, (answers.get(asked) ?? new Set()).add([...devices].sort().join(" ")));
  }
  return [...answers.values()].filter(({ size }) => size > 1).length;
}
