// A cell: one method on one drawn problem, as plain data, and how the points of that problem are dealt to devices. What it
// was and what came out are the columns of a row.

import {
  type LabelledPoints,
  type methods,
  type Partition,
  randomStream,
  splitByClasses,
  splitByLabel,
  splitBySizes,
  splitEvenly,
} from "@fedkm/core";
import { groupCells } from "./table.ts";

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

export type DrawnName = "iso" | "var" | "aniso";

/** A kind and a split, such as "var classes:2": dealt by that split, and one row in five of every device held back. */
export type DealtName = `${DrawnName} ${(typeof splitNames)[number]}`;

export type DatasetName = DrawnName | DealtName | "communities" | "iris" | "digits" | "features";

/**
 * Where devices start. "Initialized with k-means++" of the paper has two readings. local: every device's own k-means, run
 * to its end, the best of ten restarts; the authors' public code of the follow-up does that. kmeans++: every device's own
 * greedy k-means++ seeds. Both make updates as in the paper. auto: the defaults of `fit`, which judges by the objective
 * whether one federated seed or every device's own k-means is better, and the federated seed for methods that do not
 * know alpha.
 */
export type StartName = "local" | "kmeans++" | "auto";

export const startTitles: { readonly [start in StartName]: string } = {
  local: "local (each device's own k-means, best of 10)",
  "kmeans++": "kmeans++ (each device's own seeds)",
  auto: "auto (the defaults of fit)",
};

/**
 * Methods that are another with an option. fedkm-ot: Algorithm 1 with the transport coupling of the follow-up.
 * distributed-shared: all devices begin at the start of one of them.
 */
export const variants = { "fedkm-ot": "fedkm", "distributed-shared": "distributed" } as const;

export interface StudyCell {
  readonly study: string;
  readonly dataset: DatasetName;
  readonly devices: number;
  /** Of drawn data; null: a given set is dealt evenly. */
  readonly pointsPerDevice: number | null;
  readonly k: number;
  /** Of a link between any two devices; with communities, of one between the two. null: the method sends nothing. */
  readonly edgeProbability: number | null;
  /** geometric: at random places, with just the links that connect all and give a mean degree of 4.867. */
  readonly network: "random" | "geometric";
  /** The graph of a plug-in, in the place of one with that probability. */
  readonly graph?: string;
  /** One of core's, or a variant of one. */
  readonly method: keyof typeof methods | keyof typeof variants;
  /** null: the method has a start of its own. */
  readonly start: StartName | null;
  /** null: the method knows none. */
  readonly alpha: number | null;
  /** simultaneous: as the rule says, also where the objective may rise. */
  readonly schedule: "cyclic" | "simultaneous";
  /** null: as the method has it. */
  readonly damping: number | null;
  readonly passes: number | null;
  /** A pass that lowers the local objective by no more is the last. */
  readonly tol: number | null;
  readonly safeguard: boolean;
  readonly eta: number | null;
  readonly rho: number | null;
  readonly rounds: number;
  readonly run: number;
  readonly seed: number;
}

/** What most cells have in common: the paper's setting. */
export const paperSetting = {
  devices: 10,
  pointsPerDevice: 200,
  k: 3,
  edgeProbability: 0.7,
  network: "random",
  method: "fedkm",
  start: "local",
  alpha: 1,
  schedule: "cyclic",
  damping: null,
  passes: null,
  tol: null,
  safeguard: false,
  eta: null,
  rho: null,
  rounds: 200,
} as const satisfies Partial<StudyCell>;

/** A method that sends nothing depends on neither network nor start. */
export const localSetting = {
  ...paperSetting,
  method: "local",
  edgeProbability: null,
  start: null,
  alpha: null,
} as const;

/** The columns that say what was run, in the order of the CSV. */
export const cellColumns = [
  "study",
  "dataset",
  "devices",
  "points_per_device",
  "k",
  "edge_probability",
  "network",
  "method",
  "start",
  "alpha",
  "eta",
  "rho",
  "schedule",
  "damping",
  "passes",
  "tol",
  "safeguard",
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
  "recovered_clusters",
  "rounds",
  "converged",
  "messages",
  "bytes",
  "largest_rise",
  "relative_residual",
  "own_cost_ratio",
] as const;

/** Cells of one problem share its data and its pooled solution, so they are run together. */
export function cellBatches(cells: readonly StudyCell[]): StudyCell[][] {
  return groupCells(cells, ({ dataset, devices, pointsPerDevice, k, network, seed }) =>
    [dataset, devices, pointsPerDevice, k, network, seed].join(" "),
  );
}

/** The seed of a run, the same for all its cells. Runs of other numbers, and of other sizes, are independent. */
export function seedOfRun(seed: number, run: number, size = 0): number {
  return Math.floor(randomStream(seed, "run", run, size)() * 2 ** 32);
}
