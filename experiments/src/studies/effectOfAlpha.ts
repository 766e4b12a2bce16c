// Effect of alpha: strong coupling, up to 4, at 200 points a device.

import { localSetting, paperSetting, seedOfRun, startTitles } from "../cell.ts";
import { kinds } from "./figures.ts";
import { type Planner, runNumbers } from "./plan.ts";

const strengths = [0, 1, 2, 3, 4];

export const effectOfAlpha: Planner = (options) => {
  const study = "effect-of-alpha";
  const cells = kinds.flatMap((dataset) =>
    runNumbers(options).flatMap((run) => {
      const drawn = { study, dataset, run, seed: seedOfRun(options.seed, run) };
      return [
        { ...localSetting, ...drawn },
        ...options.starts.flatMap((start) => [
          ...strengths.map((alpha) => ({ ...paperSetting, ...drawn, start, alpha })),
          { ...paperSetting, ...drawn, start, method: "distributed" as const, alpha: null },
        ]),
      ];
    }),
  );
  const pictures = options.starts.map((start) => ({
    name: `${study}-${start}`,
    grid: {
      title: "Effect of alpha: 200 points a device, p = 0.7",
      caption: `Mean and standard error over the runs. Start: ${startTitles[start]}.`,
      rows: kinds.map((dataset) => ({ label: dataset, where: { study, dataset, start } })),
      columns: [
        { label: "GCD", where: {}, measure: "gcd" as const },
        { label: "CV", where: {}, measure: "cv" as const },
      ],
      x: { column: "alpha", label: "alpha", ticks: strengths },
      measure: "gcd" as const,
      methods: ["fedkm", "local", "distributed"],
    },
  }));
  return { cells, pictures, figures: [] };
};
