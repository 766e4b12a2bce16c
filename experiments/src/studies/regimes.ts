// The follow-up's third experiment, update regimes: damping and passes, with the rounds that raise the objective.

import { followUpSetting, paperSetting, seedOfRun, startTitles } from "../cell.ts";
import { kinds } from "./figures.ts";
import { followUpNames } from "./grid.ts";
import { type Planner, runNumbers } from "./plan.ts";

/** gamma and passes. */
const regimesOfUpdate = [
  { damping: 1, passes: 10 },
  { damping: 1, passes: 1 },
  { damping: 0.5, passes: 10 },
];

/** All at once as in the follow-up, and one device at a time as in the paper. */
const schedules = ["simultaneous", "cyclic"] as const;
const methods = ["fedkm", "fedkm-ot"] as const;

/** The dependable start has a regime of its own, so that it has no part in this. */
export const regimes: Planner = (options) => {
  const study = "regimes";
  const starts = options.starts.filter((start) => start !== "dependable");
  const cells = kinds.flatMap((dataset) =>
    runNumbers(options).flatMap((run) => {
      const drawn = { study, dataset, run, seed: seedOfRun(options.seed, run) };
      return starts.flatMap((start) =>
        schedules.flatMap((schedule) =>
          methods.flatMap((method) =>
            regimesOfUpdate.map((regime) => ({
              ...(schedule === "cyclic" ? { ...paperSetting, start } : followUpSetting(start)),
              ...drawn,
              method,
              ...regime,
            })),
          ),
        ),
      );
    }),
  );
  const pictures = starts.map((start) => ({
    name: `${study}-${start}`,
    grid: {
      title: "Update regimes: damping γ and passes P",
      caption: `Start: ${startTitles[start]}.`,
      rows: kinds.map((dataset) => ({ label: dataset, where: { study, dataset, start } })),
      columns: [
        { label: "GCD", where: {}, measure: "gcd_aligned" as const },
        { label: "CV", where: {}, measure: "cv_aligned" as const },
      ],
      summary: "mean" as const,
      entries: schedules.flatMap((schedule) =>
        methods.flatMap((method) =>
          regimesOfUpdate.map(({ damping, passes }) => ({
            label: `${followUpNames[method].slice(-2)}, ${schedule === "cyclic" ? "in turn" : "at once"}, γ ${damping}, P ${passes}`,
            method,
            where: { schedule, method, damping, passes },
          })),
        ),
      ),
    },
  }));
  return { cells, pictures, figures: [] };
};
