// A cell: one method on one drawn problem, as plain data, and how the points of that problem are dealt to devices. What it
// was and what came out are the columns of a row.

import {
  type LabelledPoints,
  type Partition,
  randomStream,
  splitByClasses,
  splitByLabel,
  splitBySizes,
  splitEvenly,
} from "@fedkm/core";
import { groupCells, type TableRow } from "./table.ts";

/** dirichlet: label skew of concentration `amount`. classes: so many on each device. sizes: the largest over the smallest. */
export interface Split {
  readonly kind: "even" | "dirichlet" | "classes" | "sizes";
  readonly amount: number;
}

/** Undefined where the text is no split. */
export function parseDeal(text: string): Split | undefined {
  if (text === "even") return { kind: "even", amount: 1 };
  const [, kind, number] = /^(dirichlet|classes|sizes):(\S+)$/.exec(text) ?? [];
  const amount = Number(number);
  if (kind === undefined || !Number.isFinite(amount)) return undefined;
  if (kind === "dirichlet") return amount > 0 ? { kind, amount } : undefined;
  if (kind === "classes") return Number.isInteger(amount) && amount > 0 ? { kind, amount } : undefined;
  return amount >= 1 ? { kind: "sizes", amount } : undefined;
}

/** Labelled points dealt to devices. */
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

/**
 * Where devices start. "Initialized with k-means++" of the paper has two readings. local: every device's own k-means, run
 * to its end, the best of ten restarts; the authors' public code of the follow-up does that. kmeans++: every device's own
 * greedy k-means++ seeds. Both make updates as in the paper. auto: the defaults of `fit`, which judges by the objective
 * whether one federated seed or every device's own k-means is better, and the federated seed for methods that do not
 * know alpha. federated: that seed for all.
 */
export type StartName = "local" | "kmeans++" | "auto" | "federated";

export const startTitles: { readonly [start in StartName]: string } = {
  local: "local (each device's own k-means, best of 10)",
  "kmeans++": "kmeans++ (each device's own seeds)",
  auto: "auto (the defaults of fit)",
  federated: "federated (one common seed)",
};

export type CellOptions = { readonly [option: string]: string | number | boolean };

export interface StudyCell {
  readonly study: string;
  /** A name of data: drawn, given, or of a plug-in. Behind a colon stands the other reading of the paper's. */
  readonly dataset: string;
  /** A rule by which rows are dealt; null: as the data have it, or evenly. */
  readonly split: string | null;
  /** Whether one row in five of every device is held back, to judge it by. */
  readonly heldBack: boolean;
  readonly devices: number;
  /** Of drawn data; null: a given set is dealt. */
  readonly pointsPerDevice: number | null;
  readonly k: number;
  /** er:P, communities:P, geometric, complete, ring, path, star, or that of a plug-in. null: the method sends nothing. */
  readonly graph: string | null;
  /** As it is called in tables and pictures. */
  readonly method: string;
  /** Whose function is run: one of core's, or of a plug-in. */
  readonly base: string;
  /** null: the method has a start of its own. */
  readonly start: StartName | null;
  /** null: the method knows none. */
  readonly alpha: number | null;
  /** All others that the method is given. A simultaneous schedule is run as asked for, also where the objective may rise. */
  readonly options: CellOptions;
  /** Whether it is judged by classes. */
  readonly isScored: boolean;
  readonly rounds: number;
  readonly run: number;
  readonly seed: number;
}

/** The columns that say what was run, in the order of the CSV. */
export const cellColumns = [
  "study",
  "dataset",
  "split",
  "devices",
  "points_per_device",
  "k",
  "network",
  "edge_probability",
  "method",
  "start",
  "alpha",
  "settings",
  "most_rounds",
  "run",
  "seed",
] as const;

/** The columns that say what came out. */
export const measureColumns = [
  "gcd",
  "cv",
  "gcd_aligned",
  "cv_aligned",
  "wrong_devices",
  "cost_ratio",
  "nmi",
  "nmi_own",
  "ari",
  "objective",
  "objective_rises",
  "recovered_rows",
  "rounds",
  "converged",
  "messages",
  "bytes",
  "largest_rise",
  "relative_residual",
  "own_cost_ratio",
  "reference_from",
] as const;

/** A cell as the first columns of its row; options also stand by their names, for sweeps over one of them. */
export function cellRow(cell: StudyCell): TableRow<(typeof cellColumns)[number]> {
  const { study, dataset, split, devices, pointsPerDevice, k, graph, method, start, alpha, options, rounds } = cell;
  const [network, probability] = (graph ?? "").split(":");
  const settings = Object.entries(options).map(([option, value]) => `${option}=${value}`);
  const named = Object.entries(options).map(([option, value]) => [option, typeof value === "boolean" ? +value : value]);
  return {
    ...Object.fromEntries(named),
    study,
    dataset,
    split,
    devices,
    points_per_device: pointsPerDevice,
    k,
    network: network === "" ? null : network,
    edge_probability: probability === undefined || Number.isNaN(Number(probability)) ? null : Number(probability),
    method,
    start,
    alpha,
    settings: settings.length === 0 ? null : settings.join(" "),
    most_rounds: rounds,
    run: cell.run,
    seed: cell.seed,
  };
}

/** Cells of one problem share its data and its pooled solution, so they are run together. */
export function cellBatches(cells: readonly StudyCell[]): StudyCell[][] {
  return groupCells(cells, ({ dataset, split, heldBack, devices, pointsPerDevice, k, seed }) =>
    [dataset, split, heldBack, devices, pointsPerDevice, k, seed].join(" "),
  );
}

/** The seed of a run, the same for all its cells. Runs of other numbers, and of other sizes, are independent. */
export function seedOfRun(seed: number, run: number, size = 0): number {
  return Math.floor(randomStream(seed, "run", run, size)() * 2 ** 32);
}
