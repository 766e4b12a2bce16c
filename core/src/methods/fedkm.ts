// Algorithm 1 in the table of methods: `fit`, which here lets the options of other methods pass, as all of them do.

import { checkNetwork } from "../data/check.ts";
import type { Matrix } from "../data/matrix.ts";
import { type FitModel, fitOn } from "../fit/fit.ts";
import type { FitOptions } from "../fit/fitOptions.ts";
import type { Graph } from "../graph/graph.ts";
import { penalties } from "../update/penalty.ts";
import { checkMethodOptionNames, roundsOptions } from "./method.ts";

export function fedkm(datasets: readonly Matrix[], graph: Graph, options: FitOptions): FitModel {
  checkNetwork(datasets, graph);
  checkMethodOptionNames(options, "k and alpha");
  return fitOn(datasets, graph, options);
}

fedkm.takes = {
  ...roundsOptions,
  preset: ["paper", "dependable"],
  schedule: ["cyclic", "random", "coloured", "simultaneous"],
  penalty: penalties,
  passes: ["number"],
  relaxation: ["number", "auto"],
  damping: ["number"],
  safeguard: ["true", "false"],
  candidates: ["true", "false"],
  freshStarts: ["number"],
  robust: ["true", "false"],
  privacy: ["open", "guarded"],
  jointSteps: ["true", "false"],
};
