// How points are dealt to devices, by a word: even, dirichlet:A, classes:K or sizes:S.

import {
  type LabelledPoints,
  type Partition,
  splitByClasses,
  splitByLabel,
  splitBySizes,
  splitEvenly,
} from "@fedkm/core";

/** dirichlet: label skew of concentration `amount`. classes: so many on each device. sizes: the largest over the smallest. */
export interface Split {
  readonly kind: "even" | "dirichlet" | "classes" | "sizes";
  readonly amount: number;
}

/** Undefined where the text is no split. */
export function parseSplit(text: string): Split | undefined {
  if (text === "even") return { kind: "even", amount: 1 };
  const [, kind, number] = /^(dirichlet|classes|sizes):(\S+)$/.exec(text) ?? [];
  const amount = Number(number);
  if (kind === undefined || !Number.isFinite(amount)) return undefined;
  if (kind === "dirichlet") return amount > 0 ? { kind, amount } : undefined;
  if (kind === "classes") return Number.isInteger(amount) && amount > 0 ? { kind, amount } : undefined;
  return amount >= 1 ? { kind: "sizes", amount } : undefined;
}

export function dealBy({ kind, amount }: Split, drawn: LabelledPoints, devices: number, seed: number): Partition {
  if (kind === "dirichlet") return splitByLabel(drawn, devices, amount, seed);
  if (kind === "classes") return splitByClasses(drawn, devices, amount, seed);
  if (kind === "sizes") return splitBySizes(drawn, geometricSizes(drawn.points.rows, devices, amount), seed);
  return splitEvenly(drawn, devices, seed);
}

/** Sizes that grow by one factor from device to device, whole, and adding up to all rows. */
function geometricSizes(rows: number, devices: number, ratio: number): number[] {
  const shares = Array.from({ length: devices }, (_, i) => ratio ** (i / Math.max(1, devices - 1)));
  const total = shares.reduce((sum, share) => sum + share, 0);
  let reached = 0;
  let dealt = 0;
  return shares.map((share, i) => {
    reached += share;
    // The last device takes what rounding leaves.
    const upTo = i === devices - 1 ? rows : Math.round((rows * reached) / total);
    const size = upTo - dealt;
    dealt = upTo;
    return size;
  });
}
