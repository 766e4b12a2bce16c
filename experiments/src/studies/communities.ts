// The follow-up's fifth experiment, two communities of five devices with clusters of their own: what a few links between cost.

import { followUpBaselines, followUpSetting, localSetting, seedOfRun, startTitles } from "../cell.ts";
import { followUpNames } from "./grid.ts";
import { type Planner, runNumbers } from "./plan.ts";

const strengths = [0.01, 0.1, 1];
const between = [0, 0.1];

export const communities: Planner = (options) => {
  const study = "communities";
  const cells = runNumbers(options).flatMap((run) => {
    const seed = seedOfRun(options.seed, run);
    const drawn = { study, dataset: "communities" as const, pointsPerDevice: 50, run, seed };
    return [
      { ...localSetting, ...drawn },
      ...options.starts.flatMap((start) =>
        between.flatMap((edgeProbability) => [
          ...strengths.flatMap((alpha) =>
            (["fedkm", "fedkm-ot"] as const).map((method) => ({
              ...followUpSetting(start),
              ...drawn,
              method,
              edgeProbability,
              alpha,
            })),
          ),
          ...followUpBaselines(start, [1]).map((cell) => ({ ...cell, ...drawn, edgeProbability })),
        ]),
      ),
    ];
  });
  const pictures = options.starts.map((start) => ({
    name: `${study}-${start}`,
    grid: {
      title: "Two communities: GCD to the pooled solution of the own one",
      caption: `Start: ${startTitles[start]}. DGC-KM has ρ = 1.`,
      rows: [{ label: "GCD", where: { study, start } }],
      columns: between.map((p) => ({
        label: p === 0 ? "no link between the two" : `links between the two: p = ${p}`,
        where: { edge_probability: p },
      })),
      x: { column: "alpha", label: "coupling strength α", ticks: strengths, log: true },
      measure: "gcd_aligned" as const,
      summary: "mean" as const,
      names: followUpNames,
      methods: ["fedkm", "fedkm-ot", "local", "distributed", "gradient"],
    },
  }));
  return { cells, pictures, figures: [] };
};
