// How many clusters tables have, which of their devices belong together, and how strongly these should be coupled.

import {
  type Choice,
  type ClusterVerdict,
  choose,
  edges,
  type Judge,
  predict,
  toRows,
  type Weighting,
} from "@fedkm/core";
import { undoScaling } from "@fedkm/files";
import { checkFitMethod, runMethod } from "../fit/method.ts";
import { fitVerdict, stabilityTask } from "../fit/stability.ts";
import { clustersInModelOrder } from "../model/clusterSums.ts";
import { type Prepared, type PrepareRequest, prepareTables } from "../prepare/prepare.ts";
import { requestWeighting } from "../request.ts";
import { computeWork, reportWorkProgress, type WorkContext } from "../work.ts";

/** Which rows a choice of k and alpha is asked about, and how it is judged. */
export interface ChooseRequest extends Omit<PrepareRequest, "study" | "k"> {
  /** Default: until larger ones are worse. */
  readonly largestK?: number;
  /** Whose rows judge alpha: each device's own, or those of all devices. Default: see `ChooseOptions`. */
  readonly judge?: Judge;
  /** Default: every row counts the same. */
  readonly weighting?: Weighting;
}

/** A choice of k and alpha, and what was looked at for it. */
export interface ChooseOutcome {
  readonly choice: Choice;
  /** Of the devices. */
  readonly names: readonly string[];
  /** Of the clusters that a fit with this choice has; undefined with one cluster, or where each device has its own. */
  readonly verdict: ClusterVerdict["word"] | undefined;
  readonly warnings: readonly string[];
}

/** Chooses k and alpha for tables, files or sources: `fedkm choose` as a function. */
export async function chooseTables(request: ChooseRequest, context: WorkContext = {}): Promise<ChooseOutcome> {
  // All rows are read: the sample is that of the choice.
  const { sample, largestK, judge, seed = 1, ...reading } = request;
  const prepared = await prepareTables({ ...reading, seed }, context);
  const { datasets, graph, names, warnings } = prepared;
  reportWorkProgress(context, { step: "choose" });
  const asked = { largestK, sample, judge, weighting: requestWeighting(request), seed };
  const choice = await computeWork(context, () => choose(datasets, graph, asked));
  const { leftOut } = choice.clusters;
  const unheard = leftOut.map((i) => names[i]).join(", ");
  return {
    choice,
    names,
    verdict: await computeWork(context, () => verdictOfChoice(prepared, choice, asked, context)),
    warnings: leftOut.length === 0 ? warnings : [...warnings, `no path leads to ${unheard}, which had no say`],
  };
}

/** Fitted as fedkm fit would. */
function verdictOfChoice(
  { datasets, names, scaling }: Prepared,
  { fitted: k, alpha, graph }: Choice,
  { weighting, seed }: { readonly weighting: Weighting; readonly seed: number },
  context: WorkContext,
): ClusterVerdict["word"] | undefined {
  if (k === 1) return undefined;
  const checked = checkFitMethod({ k, alpha, seed, weighting });
  const centroids = clustersInModelOrder(runMethod(checked, datasets, graph, undefined, context).centroids, datasets);
  const labels = datasets.map((points, i) => (points.rows === 0 ? new Uint32Array() : predict(centroids[i], points)));
  const devices = names.map((name, i) => {
    return { name, rows: datasets[i].rows, sizes: [], centroids: toRows(undoScaling(centroids[i], scaling)) };
  });
  const links = Array.from(edges(graph), ([i, j, weight]) => {
    return { devices: [names[i], names[j]] as const, weight, disagreement: 0 };
  });
  const options = { k, alpha, seed, weighting, method: checked.name, graph: "" };
  return fitVerdict(stabilityTask({ model: { devices, links, options, scaling }, graph, datasets, labels }))?.word;
}
