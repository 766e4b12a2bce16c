// The table of studies: a further one is a file beside this and a line here.

import { figureStudy } from "./figures.ts";
import { followUpStudies } from "./followUp.ts";
import { heterogeneity } from "./heterogeneity.ts";
import type { Planner } from "./plan.ts";

/** All of the follow-up's in one. */
const followUp: Planner = (options) => {
  const plans = Object.values(followUpStudies).map((study) => study(options));
  return {
    cells: plans.flatMap(({ cells }) => cells),
    pictures: plans.flatMap(({ pictures }) => pictures),
    figures: [],
  };
};

/** What can be reproduced, by name. */
export const studies: { readonly [name: string]: Planner } = {
  figure1: figureStudy(1),
  figure2: figureStudy(2),
  figure3: figureStudy(3),
  figure4: figureStudy(4),
  all: figureStudy(1, 2, 3, 4),
  ...followUpStudies,
  "follow-up": followUp,
  heterogeneity,
};
