// The requests of the conformance suite and the rows that they are about. A further request is one entry of `requests`.

import { type methods, paperData, toRows } from "@fedkm/core";
import type { FitRequest } from "@fedkm/tables";

type Settings = Omit<FitRequest, "tables" | "files" | "sources" | "study" | "method" | "graph" | "examine" | "names">;

/** Plain data. `data` names a set of rows below. */
export interface Request extends Settings {
  readonly data: keyof typeof data;
  readonly method?: keyof typeof methods | "shared";
  readonly graph?: string;
  /** Where rows stay in their sources the answer is that to the request with these changes. */
  readonly inSources?: Changed;
  /** How near the devices of a study come, where they do not come as near as to other requests. */
  readonly inStudy?: Near;
}

interface Near {
  readonly because: string;
  /** How far a coordinate of a centroid may be from the expected one, as a share of the largest coordinate. */
  readonly within?: number;
}

interface Changed extends Near {
  readonly settings?: Omit<Settings, "k">;
  /** Rows in the order of their values. */
  readonly sorted?: true;
}

const SORTED: Changed = {
  because: "an engine has no order of rows, so that random starts draw from rows that are sorted by their values",
  sorted: true,
};
const SETTLED: Changed = {
  because: "passes over all rows go on to a fixed point, where rounds in memory are at their end before",
  settings: { rounds: 5000 },
};
const EARLY: Changed = { because: "both stop at a move of that size, and at different ones", within: 1e-5 };
const STRONG: Near = {
  because: "the stronger the pull, the less a device moves, and the earlier it sends no more",
  within: 1e-3,
};
const HELD: Near = { because: "which labels are held back depends on when messages come", within: 1e-2 };

export const requests: readonly Request[] = [
  { data: "even" },
  { data: "alone", scale: "standard", seed: 5 },
  { data: "gaps", missing: "mean" },
  { data: "uneven", weighting: "device" },
  { data: "even", k: 3 },
  { data: "even", k: 1 },
  { data: "even", k: 5, inSources: SORTED },
  { data: "even", k: 3, alpha: 0 },
  { data: "even", k: 3, alpha: 0.01 },
  { data: "even", k: 3, alpha: 100, inStudy: STRONG },
  { data: "even", k: 3, seed: 7 },
  { data: "even", k: 3, weighting: "device" },
  { data: "even", k: 3, weighting: "sample" },
  { data: "even", k: 3, preset: "paper", inSources: SETTLED },
  { data: "even", k: 3, preset: "paper", weighting: "sample", inSources: SETTLED },
  { data: "even", k: 3, preset: "paper", rounds: 50, seed: 3, inSources: SETTLED },
  { data: "even", k: 3, preset: "dependable" },
  { data: "even", k: 3, graph: "ring" },
  { data: "even", k: 3, graph: "path" },
  { data: "even", k: 3, graph: "star" },
  { data: "even", k: 3, graph: "er:0.7", seed: 4 },
  { data: "even", k: 3, graph: "knn:2" },
  { data: "even", k: 3, init: "local" },
  { data: "even", k: 3, init: "federated" },
  { data: "even", k: 3, init: "kmeans++" },
  { data: "even", k: 3, init: "classic kmeans++" },
  { data: "even", k: 3, schedule: "simultaneous" },
  { data: "even", k: 3, schedule: "random", seed: 2 },
  { data: "even", k: 3, schedule: "coloured", graph: "ring" },
  { data: "even", k: 3, coupling: "transport" },
  { data: "even", k: 3, penalty: "norm", inSources: SETTLED },
  { data: "even", k: 3, penalty: "truncated" },
  { data: "even", k: 3, tol: 1e-4, inSources: EARLY },
  { data: "even", k: 3, privacy: "guarded", inStudy: HELD },
  { data: "even", k: 2, privacy: "guarded", minRows: 5, inStudy: HELD },
  { data: "even", k: 3, scale: "standard" },
  { data: "even", k: 3, scale: "minmax" },
  { data: "even", k: 3, scale: "robust" },
  { data: "even", k: 3, scale: "rank" },
  { data: "even", k: 3, exclude: ["y"] },
  { data: "even", k: 3, columns: ["y", "x"] },
  { data: "uneven", k: 3 },
  { data: "uneven", k: 3, weighting: "device", scale: "standard" },
  { data: "uneven", k: 3, preset: "paper" },
  { data: "uneven", k: 3, method: "consensus" },
  { data: "uneven", k: 3, method: "consensus", weighting: "device" },
  { data: "even", k: 3, method: "consensus", graph: "ring" },
  { data: "even", k: 3, method: "local" },
  { data: "even", k: 3, method: "pooled" },
  { data: "even", k: 3, method: "distributed" },
  { data: "even", k: 3, method: "gradient", rounds: 20 },
  { data: "even", k: 3, method: "coreset" },
  { data: "even", k: 3, method: "backbone" },
  { data: "even", k: 3, method: "kfed" },
  { data: "even", k: 3, method: "fkm" },
  { data: "even", k: 3, method: "shared" },
  { data: "even", k: 3, method: "shared", graph: "ring", privacy: "guarded", minRows: 5 },
  { data: "alone", k: 3 },
  { data: "alone", k: 3, scale: "standard", seed: 5 },
  { data: "gaps", k: 3, missing: "drop" },
  { data: "gaps", k: 3, missing: "drop", scale: "standard", weighting: "device" },
  { data: "gaps", k: 3, missing: "drop", columns: ["y"] },
  { data: "gaps", k: 3, missing: "mean" },
  { data: "gaps", k: 3, missing: "mean", scale: "standard" },
  { data: "gaps", k: 3, missing: "mean", scale: "robust", preset: "paper" },
  { data: "texts", k: 3, categories: "auto" },
  { data: "texts", k: 4, categories: ["colour"], exclude: ["shape"] },
  { data: "texts", k: 3, categories: "auto", scale: "standard" },
  { data: "texts", k: 3, categories: "auto", scale: "minmax", weighting: "device" },
  { data: "texts", k: 3, categories: "auto", scale: "rank" },
  { data: "texts", k: 3, categories: "auto", method: "consensus", scale: "standard" },
  { data: "texts", k: 3, categories: "auto", columns: ["colour", "shape"] },
  { data: "textGaps", k: 3, categories: "auto", missing: "drop" },
  { data: "textGaps", k: 3, categories: "auto", missing: "drop", scale: "standard", seed: 3 },
  { data: "textGaps", k: 3, categories: "auto", missing: "mean" },
  { data: "textGaps", k: 3, categories: "auto", missing: "mean", scale: "standard", graph: "path" },
];

/** Null: missing. */
type Cell = number | string | null;

export interface Rows {
  readonly columns: readonly string[];
  /** By device, row and column. */
  readonly devices: readonly (readonly (readonly Cell[])[])[];
}

/** Rows of the paper's clusters, dealt to devices of these sizes. */
function numbersOf(sizes: readonly number[], seed: number): Rows {
  const count = sizes.reduce((sum, size) => sum + size, 0);
  const all = toRows(paperData("var", 1, count, seed).datasets[0]);
  let next = 0;
  const devices = sizes.map((size) => {
    next += size;
    return all.slice(next - size, next);
  });
  return { columns: ["x", "y"], devices };
}

/** With a text that depends on the place of a row and one that does not. Not every device has every word. */
function withTexts({ columns, devices }: Rows): Rows {
  const textsOf = ([x]: readonly Cell[], r: number, i: number) => [
    Number(x) > 0 ? "red" : ["blue", "green"][r % 2],
    r % 3 === i ? "round" : "square",
  ];
  return {
    columns: [...columns, "colour", "shape"],
    devices: devices.map((rows, i) => rows.map((row, r) => [...row, ...textsOf(row, r, i)])),
  };
}

/** Without some of its cells: one of each column in every device, and two in one row. */
function withGaps({ columns, devices }: Rows): Rows {
  const isGap = (r: number, c: number) => r === 2 + 9 * c || r === 5;
  return {
    columns,
    devices: devices.map((rows) => rows.map((row, r) => row.map((cell, c) => (isGap(r, c) ? null : cell)))),
  };
}

export const data = {
  even: numbersOf([40, 40, 40, 40], 1),
  uneven: numbersOf([12, 90, 42], 2),
  alone: numbersOf([80], 3),
  gaps: withGaps(numbersOf([40, 50, 30], 4)),
  texts: withTexts(numbersOf([30, 50, 40], 5)),
  textGaps: withGaps(withTexts(numbersOf([40, 50, 45], 6))),
} satisfies Record<string, Rows>;

export function nameOf({ inSources: _, inStudy: __, ...request }: Request): string {
  return Object.entries(request)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");
}

/** What is asked besides the rows. */
export function settingsOf({ data: _, inSources: __, inStudy: ___, ...settings }: Request) {
  return settings;
}

/** Whether the columns that are asked for hold texts. */
export function hasTexts(request: Request): boolean {
  return request.categories !== undefined;
}

/** The columns that a request asks for, in its order. */
export function columnsOf({ data: name, columns, exclude = [] }: Request): readonly string[] {
  return columns ?? data[name].columns.filter((column) => !exclude.includes(column));
}

export function csvOf({ columns, devices }: Rows, device: number): string {
  return `${[columns, ...devices[device]].map((row) => row.map((cell) => cell ?? "").join(",")).join("\n")}\n`;
}

/** In the order of their values. */
export function sortedRows({ columns, devices }: Rows): Rows {
  const compare = (a: readonly Cell[], b: readonly Cell[]) => {
    const first = a.findIndex((cell, c) => cell !== b[c]);
    return first < 0 ? 0 : Number(a[first]) - Number(b[first]);
  };
  return { columns, devices: devices.map((rows) => rows.toSorted(compare)) };
}
