// Twenty sets on which the winners of a comparison are recomputed: a grid of 25, exponential data, ties, outliers, and more.

import { type LabelledPoints, normalStream, paperData, randomStream } from "@fedkm/core";
import { runs } from "../../test/runs.ts";

type Draw = (seed: number) => LabelledPoints;

/** Rows of a function of their number, with the class that it gives them. */
function drawn(rows: number, row: (random: () => number, r: number) => { at: number[]; label: number }): Draw {
  return (seed) => {
    const random = randomStream(seed, "set");
    const all = Array.from({ length: rows }, (_, r) => row(random, r));
    const points = { data: Float64Array.from(all.flatMap(({ at }) => at)), rows, cols: all[0].at.length };
    return { points, labels: Uint32Array.from(all, ({ label }) => label) };
  };
}

const normal = (random: () => number) => normalStream(random)();

const grid = (side: number, rows: number): Draw =>
  drawn(rows, (random, r) => {
    const label = r % (side * side);
    const at = [label % side, Math.floor(label / side)].map((x) => 10 * x + normal(random));
    return { at, label };
  });

const exponential = (cols: number, rows: number): Draw =>
  drawn(rows, (random, r) => ({
    at: Array.from({ length: cols }, () => -3 * Math.log(1 - random())),
    label: r % 3,
  }));

const lattice = (side: number, rows: number): Draw =>
  drawn(rows, (random) => {
    const at = [Math.floor(side * random()), Math.floor(side * random())];
    return { at, label: at[0] };
  });

const outliers: Draw = drawn(200, (random, r) => ({
  at: [r < 3 ? 1e4 * (r + 1) : normal(random), normal(random) + 6 * (r % 3)],
  label: r % 3,
}));

const wide: Draw = drawn(150, (random, r) => ({
  at: Array.from({ length: 20 }, (_, c) => normal(random) + (c === r % 4 ? 6 : 0)),
  label: r % 4,
}));

const paper =
  (kind: "iso" | "var" | "aniso"): Draw =>
  (seed) => {
    const { datasets, labels } = paperData(kind, 1, 240, seed);
    return { points: datasets[0], labels: labels[0] };
  };

/** Name, draw, k, split and whether the network is a ring. */
export const comparedSets: readonly (readonly [string, Draw, number, string, boolean])[] = [
  ["grid of 25", grid(5, 300), 25, "dirichlet:0.1", true],
  ["grid of 9", grid(3, 270), 9, "classes:2", false],
  ["grid of 16 on few rows", grid(4, 160), 16, "even", true],
  ["exponential", exponential(2, 240), 5, "even", false],
  ["exponential, skewed", exponential(3, 240), 4, "sizes:20", true],
  ["exponential line", exponential(1, 200), 6, "even", false],
  ["lattice", lattice(6, 240), 8, "even", false],
  ["lattice by class", lattice(4, 200), 5, "classes:1", true],
  ["outliers", outliers, 4, "even", false],
  ["outliers, skewed", outliers, 5, "dirichlet:0.3", false],
  ["twenty columns", wide, 4, "even", true],
  ["twenty columns by class", wide, 4, "classes:2", false],
  ["iso", paper("iso"), 3, "even", false],
  ["iso by class", paper("iso"), 3, "classes:1", true],
  ["var", paper("var"), 3, "even", true],
  ["var, skewed", paper("var"), 3, "dirichlet:0.1", false],
  ["aniso", paper("aniso"), 3, "even", false],
  ["aniso in five", paper("aniso"), 5, "sizes:10", true],
  ["var in one", paper("var"), 1, "even", false],
  ["line", drawn(150, (random, r) => ({ at: [random() + (r % 4)], label: r % 4 })), 4, "even", true],
];

/** Five sets of all kinds in npm test, and all in npm run test:long. */
export function setsOfRun(): typeof comparedSets {
  const step = runs({ short: 4, long: 1 });
  return comparedSets.filter((_, at) => at % step === 0);
}
