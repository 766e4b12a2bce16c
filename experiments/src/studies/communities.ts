// Two communities of five devices with clusters of their own: what links between strangers cost.

import { localSetting, paperSetting, seedOfRun, startTitles } from "../cell.ts";
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
          ...strengths.map((alpha) => ({ ...paperSetting, ...drawn, start, edgeProbability, alpha })),
          { ...paperSetting, ...drawn, start, edgeProbability, method: "distributed" as const, alpha: null },
        ]),
      ),
    ];
  });
  const pictures = options.starts.map((start) => ({
    name: `${study}-${start}`,
    grid: {
      title: "Two communities: GCD to the own one's pooled solution",
      caption: `Mean and standard error over the runs. Start: ${startTitles[start]}.`,
      rows: [{ label: "GCD", where: { study, start } }],
      columns: between.map((p) => ({
        label: p === 0 ? "no link between the two" : `links between the two: p = ${p}`,
        where: { edge_probability: p },
      })),
      x: { column: "alpha", label: "alpha", ticks: strengths, log: true },
      measure: "gcd" as const,
      methods: ["fedkm", "local", "distributed"],
    },
  }));
  return { cells, pictures, figures: [] };
};
