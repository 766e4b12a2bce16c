// Figures 1 to 4 of the paper: GCD and CV by local sample size, for three alphas and for three densities of the network.

import { localSetting, paperSetting, type StartName, type StudyCell, seedOfRun, startTitles } from "../cell.ts";
import type { PanelGrid, Planner, PlanOptions } from "./plan.ts";

export const kinds = ["iso", "aniso", "var"] as const;
const alphas = [0, 0.5, 1] as const;
const probabilities = [0.4, 0.7, 1] as const;

/** 50, 100, .. 800 points a device. */
export const paperSizes = Array.from({ length: 16 }, (_, i) => 50 * (i + 1));

interface FigureOptions extends Omit<PlanOptions, "quick"> {
  /** Figures 1 and 2 vary alpha, 3 and 4 the density. */
  readonly figures: readonly number[];
  readonly sizes: readonly number[];
}

function figureCells({ figures, sizes, starts, runs, seed }: FigureOptions): StudyCell[] {
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
  const cells: StudyCell[] = [];
  for (const dataset of kinds) {
    for (const pointsPerDevice of sizes) {
      for (let run = 1; run <= runs; run++) {
        const drawn = { study: "figures", dataset, pointsPerDevice, run, seed: seedOfRun(seed, run, pointsPerDevice) };
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

const quickSizes = [50, 200];

export function figureStudy(...figures: readonly number[]): Planner {
  return ({ starts, runs, seed, quick }) => ({
    cells: figureCells({ figures, sizes: quick ? quickSizes : paperSizes, starts, runs, seed }),
    pictures: figures.flatMap((figure) =>
      starts.map((start) => ({ name: `figure${figure}-${start}`, grid: figureGrid(figure, start, quick) })),
    ),
    figures,
  });
}

function figureGrid(figure: number, start: StartName, quick: boolean): PanelGrid {
  const measure = figure % 2 === 1 ? "gcd" : "cv";
  const byAlpha = figure <= 2;
  const varied = byAlpha ? "α (p = 0.7)" : "connectivity p (α = 1)";
  return {
    title: `Figure ${figure}: ${measure.toUpperCase()} by local sample size and ${varied}`,
    caption: `Start: ${startTitles[start]}.`,
    rows: kinds.map((dataset) => ({ label: `${measure.toUpperCase()}, ${dataset}`, where: { dataset, start } })),
    columns: byAlpha
      ? alphas.map((alpha) => ({ label: `α = ${alpha}`, where: { alpha, edge_probability: 0.7 } }))
      : probabilities.map((p) => ({ label: `p = ${p}`, where: { alpha: 1, edge_probability: p } })),
    x: {
      column: "points_per_device",
      label: "points per device, m",
      ticks: quick ? [0, 50, 100, 150, 200] : [0, 200, 400, 600, 800],
    },
    measure,
    // The paper's error bars.
    summary: "error",
    // Disagreement of devices that never speak is not in the paper's figures.
    methods: measure === "gcd" ? ["fedkm", "local", "distributed"] : ["fedkm", "distributed"],
  };
}
