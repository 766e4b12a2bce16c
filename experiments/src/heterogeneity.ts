// Where personalisation pays: methods by splits, each device judged on rows of its own that it has not seen.

import { distortion, type Graph, type LabelledPoints, type Matrix, type Method, methods } from "@fedkm/core";
import { interval, mean } from "./aggregate.ts";
import { type ComparisonProblem, runWithin, type Table } from "./compare.ts";
import { dealBy, holdBack, parseSplit, type Split, splitNames } from "./split.ts";

/** Algorithm 1 has a dial, so it gets a row for each of these beside the one that is asked for. */
const ALPHAS = [0.01, 0.1];

export interface HeterogeneityProblem extends Omit<ComparisonProblem, "datasets" | "labels" | "graph"> {
  /** All points of a seed, and the network of its devices. */
  readonly draw: (seed: number) => LabelledPoints;
  readonly link: (datasets: readonly Matrix[], seed: number) => Promise<Graph>;
  readonly devices: number;
  /** Seeds from `seed` on, of which the mean is taken. */
  readonly runs: number;
}

export interface HeterogeneityTable {
  readonly splits: readonly string[];
  readonly rows: readonly {
    readonly method: string;
    /** Own cost on held-back rows relative to pooled, in the mean over the runs; null where the budget is too small. */
    readonly ratios: readonly (number | null)[];
    /** Half the widths of their 95 % intervals. */
    readonly intervals: readonly (number | null)[];
  }[];
}

/** Split by split; `onSplit` hears of each that is done. */
export async function heterogeneityGrid(
  problem: HeterogeneityProblem,
  table: Table = methods,
  onSplit: (split: string) => void = () => {},
): Promise<HeterogeneityTable> {
  const rivals = withDial(table);
  const columns: Estimate[][] = [];
  for (const name of splitNames) {
    const costs: number[][] = [];
    for (let run = 0; run < problem.runs; run++) {
      costs.push(await ownCosts(problem, parseSplit(name) as Split, problem.seed + run, rivals));
    }
    columns.push(rivals.map((_, row) => estimate(costs.map((own) => own[row]))));
    onSplit(name);
  }
  return {
    splits: splitNames,
    rows: rivals.map(({ label }, row) => ({
      method: label,
      ratios: columns.map((column) => column[row].ratio),
      intervals: columns.map((column) => column[row].half),
    })),
  };
}

interface Estimate {
  readonly ratio: number | null;
  readonly half: number | null;
}

function estimate(values: readonly number[]): Estimate {
  return values.every(Number.isFinite) ? { ratio: mean(values), half: interval(values) } : { ratio: null, half: null };
}

interface Rival {
  readonly label: string;
  readonly name: string;
  readonly method: Method;
  readonly alpha?: number;
}

function withDial(table: Table): Rival[] {
  return Object.entries(table).flatMap(([name, method]) => {
    const asked = { label: name, name, method };
    if (method !== methods.fedkm) return [asked];
    return [...ALPHAS.map((alpha) => ({ label: `${name}, alpha ${alpha}`, name, method, alpha })), asked];
  });
}

/** Of each rival; infinite where the budget does not pay for its start. */
async function ownCosts(problem: HeterogeneityProblem, split: Split, seed: number, rivals: readonly Rival[]) {
  const { draw, link, devices, ...asked } = problem;
  const { datasets } = dealBy(split, draw(seed), devices, seed);
  const { seen, unseen } = holdBack(datasets);
  const graph = await link(seen, seed);
  const cost = (centroids: readonly Matrix[]) => distortion(unseen, centroids);
  const { k, alpha } = problem;
  const reference = cost(methods.pooled(seen, graph, { k, alpha, seed }).centroids);
  return rivals.map(({ name, method, alpha: own = alpha }) => {
    const run = runWithin({ ...asked, datasets: seen, graph, seed, alpha: own }, name, method);
    return "model" in run ? cost(run.model.centroids) / reference : Number.POSITIVE_INFINITY;
  });
}
