// Rows that stay in their sources: passes over all of them, and the sums that the results are made of.

import { connectedComponents, type Graph, graph, type Matrix } from "@fedkm/core";
import {
  fitPasses,
  joinSources,
  type PassSummary,
  type Source,
  type SourcesModel,
  sourceStatistics,
} from "@fedkm/core/sources";
import type { ClusterSums } from "../model/clusterSums.ts";
import type { MethodRun } from "../model/model.ts";
import { RequestError } from "../request.ts";
import { reportWorkProgress, type WorkContext } from "../work.ts";
import { type CheckedMethod, fitMethodOptions } from "./method.ts";

/** What a run over sources came to, and (E1) of all rows there. */
export interface SourcesRun extends MethodRun {
  readonly statistics: SourcesModel["statistics"];
}

export async function runSources(
  sources: readonly Source[],
  network: Graph,
  { name, problem, settings }: CheckedMethod,
  context: WorkContext,
): Promise<SourcesRun> {
  if (name !== "fedkm" && name !== "consensus") {
    throw new RequestError(`--method must be fedkm or consensus where rows stay in their sources, got "${name}"`);
  }
  const { privacy = "open", minRows: _, ...rest } = settings;
  if (privacy !== "open")
    throw new RequestError(`--privacy ${privacy} needs the rows in memory: --read memory loads them`);
  const { signal } = context;
  const drained = async (passes: AsyncGenerator<PassSummary, SourcesModel, void>): Promise<SourcesModel> => {
    for (;;) {
      reportWorkProgress(context, { step: "pass" });
      const step = await passes.next();
      if (step.done) return step.value;
      const { pass, objective } = step.value;
      reportWorkProgress(context, { step: "pass", pass, objective });
    }
  };
  const watched = signal === undefined ? {} : { signal };
  const options = { ...fitMethodOptions({ problem, settings: rest }), ...watched };
  if (name === "fedkm") return runOf(await drained(fitPasses(sources, network, options)));
  if (connectedComponents(network).some((component) => component > 0)) {
    throw new RequestError("--method consensus needs a connected network where rows stay in their sources");
  }
  const stranger = (["init", "rounds", "tol"] as const).find((own) => settings[own] !== undefined);
  if (stranger !== undefined || settings.weighting !== "sample") {
    const asked = stranger === undefined ? `--weighting ${settings.weighting}` : `--${stranger}`;
    throw new RequestError(`--method consensus with ${asked} needs the rows in memory: --read memory loads them`);
  }
  // Pooled k-means, because parts of several sources add up exactly.
  const { k, seed } = problem;
  const pooled = await drained(fitPasses([joinSources(sources)], graph(1, []), { k, seed, alpha: 0, ...watched }));
  const [common] = pooled.centroids;
  const statistics = await Promise.all(sources.map((source) => sourceStatistics(source, common, signal)));
  return runOf(judgedByDevices({ ...pooled, centroids: sources.map(() => common), statistics }, sources));
}

/**
 * One device of all rows is judged by the mean over them, and so many devices by that many means. Devices agree, so that
 * nothing is to be added for links.
 */
function judgedByDevices(pooled: SourcesModel, sources: readonly Source[]): SourcesModel {
  const rows = sources.reduce((sum, own) => sum + own.rows, 0);
  const scale = sources.length / rows;
  const objective = pooled.statistics.reduce((sum, { loss }) => sum + scale * loss, 0);
  const history = pooled.history.map((own, i) => ({
    ...own,
    objective: i === pooled.history.length - 1 ? objective : own.objective * sources.length,
  }));
  return { ...pooled, objective, history };
}

/** Nothing was sent: one program asks all sources. */
function runOf(model: SourcesModel): SourcesRun {
  const unsent = { messages: 0, bytes: 0 };
  const history = model.history.map(({ pass, objective, totalVariation }) => {
    return { round: pass, objective, totalVariation, ...unsent };
  });
  return { ...model, ...unsent, rounds: history.length, history };
}

/** The sums of all rows, with the spread of a sample. `ordered` are the centroids of `run` in another order. */
export function sumsOfSources(sampled: ClusterSums, run: SourcesRun, ordered: readonly Matrix[]): ClusterSums {
  const { k, cols } = sampled;
  const counts = new Float64Array(sampled.counts.length);
  const means = new Float64Array(sampled.means.length);
  const totals = new Float64Array(k);
  const common = new Float64Array(k * cols);
  run.statistics.forEach((own, i) => {
    numbersOf(run.centroids[i], ordered[i]).forEach((from, c) => {
      const at = i * k + c;
      counts[at] = own.counts[from];
      totals[c] += counts[at];
      for (let j = 0; j < cols; j++) {
        common[c * cols + j] += own.sums[from * cols + j];
        means[at * cols + j] = own.sums[from * cols + j] / counts[at];
      }
    });
  });
  for (let x = 0; x < common.length; x++) common[x] /= totals[Math.floor(x / cols)];
  const squares = sampled.squares.map((square, x) => {
    const c = Math.floor(x / cols);
    return sampled.totals[c] > 0 ? square * (totals[c] / sampled.totals[c]) : 0;
  });
  return { ...sampled, counts, means, totals, common, squares };
}

/** For each row of `ordered` its number in `given`. */
function numbersOf(given: Matrix, ordered: Matrix): number[] {
  const text = ({ data, cols }: Matrix, row: number) => data.subarray(row * cols, (row + 1) * cols).join();
  const numbers = new Map<string, number[]>();
  for (let row = given.rows - 1; row >= 0; row--) {
    numbers.set(text(given, row), [...(numbers.get(text(given, row)) ?? []), row]);
  }
  return Array.from({ length: ordered.rows }, (_, row) => numbers.get(text(ordered, row))?.pop() as number);
}
