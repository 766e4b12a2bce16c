// The follow-up's second experiment, two sweeps at alpha = 1: local sample size over 300 rounds, connectivity over 200.

import {
  type Cell,
  followUpBaselines,
  followUpSetting,
  localSetting,
  type StartName,
  seedOfRun,
  startTitles,
} from "../cell.ts";
import { kinds, paperSizes } from "./figures.ts";
import { followUpNames } from "./grid.ts";
import { type Planner, type PlanOptions, runNumbers } from "./plan.ts";

const SIZE_ROUNDS = 300;
const CONNECTIVITY_ROUNDS = 200;
/** Of DGC-KM; the follow-up compares 1, 10 and 100 elsewhere. */
const RHO = 10;

type Drawn = Pick<Cell, "study" | "dataset" | "run" | "seed"> & Partial<Cell>;

/** Both couplings and both baselines on one network. */
function linkedCells(start: StartName, drawn: Drawn): Cell[] {
  return [
    ...(["fedkm", "fedkm-ot"] as const).map((method) => ({ ...followUpSetting(start), ...drawn, method })),
    ...followUpBaselines(start, [RHO]).map((cell) => ({ ...cell, ...drawn })),
  ];
}

const methods = ["fedkm", "fedkm-ot", "local", "distributed", "gradient"];
const columns = [
  { label: "GCD", where: {}, measure: "gcd_aligned" as const },
  { label: "CV", where: {}, measure: "cv_aligned" as const },
];

function pictures(
  study: string,
  { starts }: PlanOptions,
  title: string,
  x: { column: string; label: string; ticks: number[] },
) {
  return starts.map((start) => ({
    name: `${study}-${start}`,
    grid: {
      title,
      caption: `Start: ${startTitles[start]}. DGC-KM has ρ = ${RHO}.`,
      rows: kinds.map((dataset) => ({ label: dataset, where: { study, dataset, start } })),
      columns,
      x,
      measure: "gcd_aligned" as const,
      summary: "mean" as const,
      names: followUpNames,
      methods,
    },
  }));
}

export const sampleSize: Planner = (options) => {
  const study = "sample-size";
  const sizes = options.quick ? [50, 200] : paperSizes;
  const rounds = options.quick ? 30 : SIZE_ROUNDS;
  const cells = kinds.flatMap((dataset) =>
    sizes.flatMap((pointsPerDevice) =>
      runNumbers(options).flatMap((run) => {
        const seed = seedOfRun(options.seed, run, pointsPerDevice);
        const drawn = { study, dataset, pointsPerDevice, run, seed, rounds };
        return [{ ...localSetting, ...drawn }, ...options.starts.flatMap((start) => linkedCells(start, drawn))];
      }),
    ),
  );
  const ticks = options.quick ? [0, 100, 200] : [0, 200, 400, 600, 800];
  const x = { column: "points_per_device", label: "points per device, m", ticks };
  return { cells, pictures: pictures(study, options, "Local sample size: α = 1, p = 0.7", x), figures: [] };
};

const densities = Array.from({ length: 11 }, (_, i) => i / 10);

export const connectivity: Planner = (options) => {
  const study = "connectivity";
  const shown = options.quick ? densities.filter((_, i) => i % 5 === 0) : densities;
  const rounds = options.quick ? 30 : CONNECTIVITY_ROUNDS;
  const cells = kinds.flatMap((dataset) =>
    runNumbers(options).flatMap((run) => {
      const drawn = { study, dataset, run, seed: seedOfRun(options.seed, run), rounds };
      return [
        { ...localSetting, ...drawn },
        ...options.starts.flatMap((start) =>
          shown.flatMap((edgeProbability) => linkedCells(start, { ...drawn, edgeProbability })),
        ),
      ];
    }),
  );
  const x = { column: "edge_probability", label: "probability of a link, p", ticks: [0, 0.2, 0.4, 0.6, 0.8, 1] };
  return { cells, pictures: pictures(study, options, "Connectivity: 200 points a device, α = 1", x), figures: [] };
};
