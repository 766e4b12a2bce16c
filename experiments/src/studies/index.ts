// The table of studies: a further one is a file beside this and a line here.

import { communities } from "./communities.ts";
import { connectivity } from "./connectivity.ts";
import { effectOfAlpha } from "./effectOfAlpha.ts";
import { figureStudy } from "./figures.ts";
import type { Planner } from "./plan.ts";
import { smallReal } from "./real.ts";
import { regimes } from "./regimes.ts";

const extendedStudies: { readonly [name: string]: Planner } = {
  "effect-of-alpha": effectOfAlpha,
  connectivity,
  regimes,
  communities,
  "small-real": smallReal,
};

/** All of the extended version's studies in one. */
const extended: Planner = (options) => {
  const plans = Object.values(extendedStudies).map((study) => study(options));
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
  ...extendedStudies,
  extended,
};
