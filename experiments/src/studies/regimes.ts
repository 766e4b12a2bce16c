// Update regimes: damping and passes, one device at a time and all at once, with the rounds that raise the objective.

import { paperSetting, seedOfRun } from "../cell.ts";
import { kinds } from "./figures.ts";
import { type Planner, runNumbers } from "./plan.ts";

/** gamma and passes. */
const regimesOfUpdate = [
  { damping: 1, passes: 10 },
  { damping: 1, passes: 1 },
  { damping: 0.5, passes: 10 },
];

/** A table, no picture: what counts is a count. */
export const regimes: Planner = (options) => ({
  cells: kinds.flatMap((dataset) =>
    runNumbers(options).flatMap((run) => {
      const drawn = { study: "regimes", dataset, run, seed: seedOfRun(options.seed, run) };
      return (["cyclic", "simultaneous"] as const).flatMap((schedule) =>
        regimesOfUpdate.map((regime) => ({ ...paperSetting, ...drawn, schedule, ...regime })),
      );
    }),
  ),
  pictures: [],
  figures: [],
});
