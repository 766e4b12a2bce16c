// The follow-up's first experiment, the effect of alpha: strong coupling, up to 4, at 200 points a device, 800 rounds.

import { followUpBaselines, followUpSetting, localSetting, seedOfRun, startTitles } from "../cell.ts";
import { kinds } from "./figures.ts";
import { followUpNames } from "./grid.ts";
import { type Planner, runNumbers } from "./plan.ts";

const strengths = [0, 1, 2, 3, 4];
const ROUNDS = 800;

export const effectOfAlpha: Planner = (options) => {
  const study = "effect-of-alpha";
  const rounds = options.quick ? 50 : ROUNDS;
  const cells = kinds.flatMap((dataset) =>
    runNumbers(options).flatMap((run) => {
      const drawn = { study, dataset, run, seed: seedOfRun(options.seed, run), rounds };
      return [
        { ...localSetting, ...drawn },
        ...options.starts.flatMap((start) => [
          ...strengths.flatMap((alpha) =>
            (["fedkm", "fedkm-ot"] as const).map((method) => ({ ...followUpSetting(start), ...drawn, method, alpha })),
          ),
          ...followUpBaselines(start, []).map((cell) => ({ ...cell, ...drawn })),
        ]),
      ];
    }),
  );
  const pictures = options.starts.map((start) => ({
    name: `${study}-${start}`,
    grid: {
      title: "Effect of α: 200 points a device, p = 0.7",
      caption: `Start: ${startTitles[start]}.`,
      rows: kinds.map((dataset) => ({ label: dataset, where: { study, dataset, start } })),
      columns: [
        { label: "GCD", where: {}, measure: "gcd_aligned" as const },
        { label: "CV", where: {}, measure: "cv_aligned" as const },
      ],
      x: { column: "alpha", label: "coupling strength α", ticks: strengths },
      measure: "gcd_aligned" as const,
      summary: "mean" as const,
      names: followUpNames,
      methods: ["fedkm", "fedkm-ot", "local", "distributed"],
    },
  }));
  return { cells, pictures, figures: [] };
};
