// The table of studies: a further one is a file beside this and a line here.

import { communities } from "./communities.ts";
import { benchmark, comparison } from "./comparison.ts";
import { effectOfAlpha } from "./effectOfAlpha.ts";
import { figureStudy } from "./figures.ts";
import { heterogeneity } from "./heterogeneity.ts";
import type { Planner } from "./plan.ts";
import { regimes } from "./regimes.ts";
import { connectivity, sampleSize } from "./sweeps.ts";

/** Of the follow-up by the paper's authors; CIFAR-10 needs a file of the user's. */
const followUpStudies: { readonly [name: string]: Planner } = {
  "effect-of-alpha": effectOfAlpha,
  "sample-size": sampleSize,
  connectivity,
  regimes,
  comparison,
  communities,
  benchmark,
};

/** All of them in one. */
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
