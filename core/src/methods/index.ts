// The table of methods: a further one is a file beside this and a line here.

import { checkNetwork } from "../data/check.ts";
import type { Matrix } from "../data/matrix.ts";
import { type FitModel, fitOn } from "../fit/fit.ts";
import type { FitOptions } from "../fit/fitOptions.ts";
import type { Graph } from "../graph/graph.ts";
import { penalties } from "../update/coupling.ts";
import { backbone } from "./backbone.ts";
import { local, pooled } from "./baselines.ts";
import { consensus } from "./consensus.ts";
import { coreset } from "./coreset.ts";
import { distributed } from "./distributed.ts";
import { fkm } from "./fkm.ts";
import { gradient } from "./gradient.ts";
import { kfed } from "./kfed.ts";
import { checkMethodOptionNames, type Method, roundsOptions } from "./method.ts";

/** Algorithm 1: `fit`, which here lets the options of other methods pass, as all of them do. */
function fedkm(datasets: readonly Matrix[], graph: Graph, options: FitOptions): FitModel {
  checkNetwork(datasets, graph);
  checkMethodOptionNames(options, "k and alpha");
  return fitOn(datasets, graph, options);
}

fedkm.travels = "centroids, sums of joint steps";
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

/**
 * Every method by its name, all called alike.
 * @example methods.kfed(paperData("iso", 4, 30, 1).datasets, path(4), { k: 3 }).rounds // 0
 */
export const methods = {
  fedkm,
  consensus,
  local,
  pooled,
  distributed,
  gradient,
  coreset,
  backbone,
  kfed,
  fkm,
} satisfies Record<string, Method>;
