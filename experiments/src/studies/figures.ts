// Figures 1 to 4 of the paper: GCD and CV by local sample size, for three alphas and for three densities of the network.

import { type Cell, localSetting, paperSetting, type StartName, seedOfRun } from "../cell.ts";

export const kinds = ["iso", "aniso", "var"] as const;
export const alphas = [0, 0.5, 1] as const;
export const probabilities = [0.4, 0.7, 1] as const;

/** 50, 100, .. 800 points a device. */
export const paperSizes = Array.from({ length: 16 }, (_, i) => 50 * (i + 1));

export interface FigureOptions {
  /** Figures 1 and 2 vary alpha, 3 and 4 the density. */
  readonly figures: readonly number[];
  readonly sizes: readonly number[];
  readonly starts: readonly StartName[];
  readonly runs: number;
  readonly seed: number;
}

export function figureCells({ figures, sizes, starts, runs, seed }: FigureOptions): Cell[] {
  const byAlpha = figures.some((figure) => figure <= 2);
  const byProbability = figures.some((figure) => figure >= 3);
  const pairs = [
    ...(byAlpha ? alphas.map((alpha) => ({ alpha, edgeProbability: 0.7 })) : []),
    // Figure 3's middle column is Figure 1's last one.
    ...(byProbability
      ? probabilities.filter((p) => !(byAlpha && p === 0.7)).map((p) => ({ alpha: 1, edgeProbability: p }))
      : []),
  ];
  const densities = [...new Set(pairs.map(({ edgeProbability }) => edgeProbability))];
  const cells: Cell[] = [];
  for (const dataset of kinds) {
    for (const pointsPerDevice of sizes) {
      for (let run = 1; run <= runs; run++) {
        const drawn = { study: "figures", dataset, pointsPerDevice, run, seed: seedOfRun(seed, run) };
        cells.push({ ...localSetting, ...drawn });
        for (const start of starts) {
          for (const pair of pairs) cells.push({ ...paperSetting, ...drawn, start, ...pair });
          for (const edgeProbability of densities) {
            cells.push({ ...paperSetting, ...drawn, start, method: "distributed", alpha: null, edgeProbability });
          }
        }
      }
    }
  }
  return cells;
}
