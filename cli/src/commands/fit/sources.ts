// fedkm fit where rows stay in their sources: passes over all of them, and the sums that the results are made of.

import { connectedComponents, type Graph, graph, type Matrix } from "@fedkm/core";
import {
  fitPasses,
  joinSources,
  type PassSummary,
  type Source,
  type SourcesModel,
  statisticsOf,
} from "@fedkm/core/sources";
import { UsageError } from "../../failure.ts";
import type { ClusterSums } from "../../model/clusters.ts";
import { significant } from "../../numbers.ts";
import type { Progress } from "../../progress.ts";
import { stoppable } from "../../stop.ts";
import type { Asked, Found } from "./run.ts";
import { methodOptions } from "./settings.ts";

/** What was found, and (E1) of all rows there. */
export interface FoundInSources extends Found {
  readonly statistics: SourcesModel["statistics"];
}

export async function runSources(
  sources: readonly Source[],
  network: Graph,
  { name, problem, settings }: Asked,
  progress: Progress,
): Promise<FoundInSources> {
  if (name !== "fedkm" && name !== "consensus") {
    throw new UsageError(`--method must be fedkm or consensus where rows stay in their sources, got "${name}"`);
  }
  const { privacy = "open", minimum: _, ...rest } = settings;
  if (privacy !== "open")
    throw new UsageError(`--privacy ${privacy} needs the rows in memory: --read memory loads them`);
  return stoppable(async (signal) => {
    const drained = async (passes: AsyncGenerator<PassSummary, SourcesModel, void>): Promise<SourcesModel> => {
      for (;;) {
        progress.announce("fedkm  a pass over all rows");
        const step = await passes.next();
        if (step.done) return step.value;
        const { pass, objective } = step.value;
        progress.announce(`fedkm  pass ${pass} over all rows  objective ${significant(objective, 4)}`);
      }
    };
    const options = { ...problem, ...methodOptions(rest), signal };
    if (name === "fedkm") return foundIn(await drained(fitPasses(sources, network, options)));
    if (connectedComponents(network).some((component) => component > 0)) {
      throw new UsageError("--method consensus needs a connected network where rows stay in their sources");
    }
    // Pooled k-means, because parts of several sources add up exactly.
    const { k, seed } = problem;
    const pooled = await drained(fitPasses([joinSources(sources)], graph(1, []), { k, seed, alpha: 0, signal }));
    const [common] = pooled.centroids;
    const statistics = await Promise.all(sources.map((source) => statisticsOf(source, common, signal)));
    return foundIn({ ...pooled, centroids: sources.map(() => common), statistics });
  });
}

/** Nothing was sent: one program asks all sources. */
function foundIn({ centroids, objective, converged, passes, history, statistics }: SourcesModel): FoundInSources {
  const rounds = history.map(({ pass, objective: own, totalVariation }) => {
    return { round: pass, objective: own, totalVariation, messages: 0, bytes: 0 };
  });
  return {
    centroids,
    objective,
    converged,
    rounds: rounds.length,
    passes,
    messages: 0,
    bytes: 0,
    history: rounds,
    statistics,
  };
}

/** The sums of all rows, with the spread of a sample. `ordered` are the centroids of `found` in another order. */
export function sumsOfSources(sampled: ClusterSums, found: FoundInSources, ordered: readonly Matrix[]): ClusterSums {
  const { k, cols } = sampled;
  const counts = new Float64Array(sampled.counts.length);
  const means = new Float64Array(sampled.means.length);
  const totals = new Float64Array(k);
  const common = new Float64Array(k * cols);
  found.statistics.forEach((own, i) => {
    placesOf(found.centroids[i], ordered[i]).forEach((from, c) => {
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
function placesOf(given: Matrix, ordered: Matrix): number[] {
  const text = ({ data, cols }: Matrix, row: number) => data.subarray(row * cols, (row + 1) * cols).join();
  const numbers = new Map<string, number[]>();
  for (let row = given.rows - 1; row >= 0; row--) {
    numbers.set(text(given, row), [...(numbers.get(text(given, row)) ?? []), row]);
  }
  return Array.from({ length: ordered.rows }, (_, row) => numbers.get(text(ordered, row))?.pop() as number);
}
