// Connectivity: from no link at all to all of them, at 200 points a device.

import { localSetting, paperSetting, seedOfRun, startTitles } from "../cell.ts";
import { kinds } from "./figures.ts";
import { type Planner, runNumbers } from "./plan.ts";

const densities = Array.from({ length: 11 }, (_, i) => i / 10);

export const connectivity: Planner = (options) => {
  const study = "connectivity";
  const shown = options.quick ? densities.filter((_, i) => i % 5 === 0) : densities;
  const cells = kinds.flatMap((dataset) =>
    runNumbers(options).flatMap((run) => {
      const drawn = { study, dataset, run, seed: seedOfRun(options.seed, run) };
      return [
        { ...localSetting, ...drawn },
        ...options.starts.flatMap((start) =>
          shown.flatMap((edgeProbability) => [
            { ...paperSetting, ...drawn, start, edgeProbability },
            { ...paperSetting, ...drawn, start, edgeProbability, method: "distributed" as const, alpha: null },
          ]),
        ),
      ];
    }),
  );
  const pictures = options.starts.map((start) => ({
    name: `${study}-${start}`,
    grid: {
      title: "Connectivity: 200 points a device, alpha = 1",
      caption: `Mean and standard error over the runs. Start: ${startTitles[start]}.`,
      rows: kinds.map((dataset) => ({ label: dataset, where: { study, dataset, start } })),
      columns: [
        { label: "GCD", where: {}, measure: "gcd" as const },
        { label: "CV (0 without links)", where: {}, measure: "cv" as const },
      ],
      x: { column: "edge_probability", label: "probability of a link, p", ticks: [0, 0.2, 0.4, 0.6, 0.8, 1] },
      measure: "gcd" as const,
      methods: ["fedkm", "local", "distributed"],
    },
  }));
  return { cells, pictures, figures: [] };
};
