// A study with plug-ins: its cells, and further ones for every method, data set and graph that was added.

import type { Graph, Partition } from "@fedkm/core";
import type { Cell } from "../cell.ts";
import type { Plan } from "../studies/plan.ts";
import type { Plugins } from "./plugin.ts";

/**
 * An added method runs wherever Algorithm 1 does, an added data set and an added graph take the places of the first of
 * the study's. Measures need no cells of their own.
 */
export function withPlugins(plan: Plan, plugins: Plugins): Plan {
  const methods = Object.keys(plugins.methods);
  const graphs = Object.keys(plugins.graphs);
  const [{ dataset: firstSet }] = plan.cells;
  const firstDensity = plan.cells.find(({ edgeProbability }) => edgeProbability !== null)?.edgeProbability;
  const byMethod = plan.cells.flatMap((cell) => {
    const own = cell.method === "fedkm" ? methods : [];
    // A name of a plug-in stands where those of the package do.
    return [cell, ...own.map((method) => ({ ...cell, method: method as Cell["method"] }))];
  });
  const bySet = Object.keys(plugins.datasets).flatMap((dataset) =>
    byMethod.filter((cell) => cell.dataset === firstSet).map((cell) => ({ ...cell, ...setOf(cell, dataset, plugins) })),
  );
  const onSets = [...byMethod, ...bySet];
  const byGraph = onSets
    .filter(({ edgeProbability }) => edgeProbability !== null && edgeProbability === firstDensity)
    .flatMap((cell) => graphs.map((graph) => ({ ...cell, graph })));
  return { ...plan, cells: [...onSets, ...byGraph] };
}

/** Data know their number of clusters when they are drawn. */
function setOf(cell: Cell, dataset: string, plugins: Plugins): Pick<Cell, "dataset" | "k" | "pointsPerDevice"> {
  const pointsPerDevice = cell.pointsPerDevice ?? DEALT;
  const { k = cell.k } = plugins.datasets[dataset]({ devices: cell.devices, pointsPerDevice, seed: cell.seed });
  return { dataset: dataset as Cell["dataset"], k, pointsPerDevice };
}

/** Points of a device where the study's own data are dealt and do not say. */
const DEALT = 100;

/** The points of a cell that names a data set of a plug-in; undefined for any other. */
export function pluggedPartition(cell: Cell, { datasets }: Plugins): Partition | undefined {
  const { dataset, devices, pointsPerDevice, seed } = cell;
  if (!Object.hasOwn(datasets, dataset)) return undefined;
  const drawn = datasets[dataset]({ devices, pointsPerDevice: pointsPerDevice ?? DEALT, seed });
  return { datasets: drawn.datasets, labels: drawn.labels ?? drawn.datasets.map(({ rows }) => new Uint32Array(rows)) };
}

/** The network of a cell that names a graph of a plug-in; undefined for any other. */
export function pluggedGraph({ graph, devices, seed }: Cell, { graphs }: Plugins): Graph | undefined {
  return graph === undefined ? undefined : graphs[graph]({ devices, seed, text: "" });
}
