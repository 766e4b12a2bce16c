// How points are dealt to devices, by a word: even, dirichlet:A, classes:K or sizes:S; and which rows are held back.

import {
  type LabelledPoints,
  type Matrix,
  type Partition,
  splitByClasses,
  splitByLabel,
  splitBySizes,
  splitEvenly,
  takeRows,
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

/** From devices that are alike to devices that hold few of the clusters. */
export const splitNames = ["even", "sizes:20", "dirichlet:1", "dirichlet:0.1", "classes:2"] as const;

/** Of every device's rows, one in so many is held back. */
const HELD_BACK = 5;

/** What every device sees, and what it is judged by. Rows come class by class or in random order: this is fair to both. */
export function holdBackRows(datasets: readonly Matrix[]): { readonly seen: Matrix[]; readonly unseen: Matrix[] } {
  const part = (points: Matrix, held: boolean) => {
    const rows = Array.from({ length: points.rows }, (_, row) => row);
    return takeRows(
      points,
      rows.filter((row) => (row % HELD_BACK === HELD_BACK - 1) === held),
    );
  };
  return { seen: datasets.map((own) => part(own, false)), unseen: datasets.map((own) => part(own, true)) };
}
