// How many clusters tables have, and how strongly their devices should be coupled.

import { type Choice, choose, type Judge, type Weighting } from "@fedkm/core";
import { type PrepareRequest, prepareTables } from "../prepare/prepare.ts";
import { requestWeighting } from "../request.ts";
import { computeWork, reportWorkProgress, type WorkContext } from "../work.ts";

export interface ChooseRequest extends Omit<PrepareRequest, "study"> {
  /** Default: until larger ones are worse. */
  readonly largestK?: number;
  /** Whose rows judge alpha: each device's own, or those of all devices. Default "own". */
  readonly judge?: Judge;
  /** Default: every row counts the same. */
  readonly weighting?: Weighting;
}

export interface ChooseOutcome {
  readonly choice: Choice;
  readonly warnings: readonly string[];
}

export async function chooseTables(request: ChooseRequest, context: WorkContext = {}): Promise<ChooseOutcome> {
  // All rows are read: the sample is that of the choice.
  const { sample, largestK, judge, seed = 1, ...reading } = request;
  const { datasets, graph, names, warnings } = await prepareTables({ ...reading, seed }, context);
  reportWorkProgress(context, { step: "choose" });
  const asked = { largestK, sample, judge, weighting: requestWeighting(request), seed };
  const choice = await computeWork(context, () => choose(datasets, graph, asked));
  const { leftOut } = choice.clusters;
  const unheard = leftOut.map((i) => names[i]).join(", ");
  return {
    choice,
    warnings: leftOut.length === 0 ? warnings : [...warnings, `no path leads to ${unheard}, which had no say`],
  };
}
