// A study with plug-ins: its cells and pictures, and further ones for every method, data set, graph and measure added.

import type { Graph, Partition } from "@fedkm/core";
import type { StudyCell } from "../cell.ts";
import type { DotGrid, PanelGrid, Plan, PlannedPicture } from "../studies/plan.ts";
import type { Plugins } from "./plugin.ts";

/**
 * An added method runs wherever Algorithm 1 does and is drawn beside it. An added data set and an added graph take the
 * places of the first of the study's. Measures need no cells of their own; each has the pictures that GCD has.
 */
export function withPlugins(plan: Plan, plugins: Plugins): Plan {
  const methods = Object.keys(plugins.methods);
  const graphs = Object.keys(plugins.graphs);
  const [{ dataset: firstSet }] = plan.cells;
  const firstDensity = plan.cells.find(({ edgeProbability }) => edgeProbability !== null)?.edgeProbability;
  const byMethod = plan.cells.flatMap((cell) => {
    const own = cell.method === "fedkm" ? methods : [];
    // A name of a plug-in stands where those of the package do.
    return [cell, ...own.map((method) => ({ ...cell, method: method as StudyCell["method"] }))];
  });
  const bySet = Object.keys(plugins.datasets).flatMap((dataset) =>
    byMethod.filter((cell) => cell.dataset === firstSet).map((cell) => ({ ...cell, ...setOf(cell, dataset, plugins) })),
  );
  const onSets = [...byMethod, ...bySet];
  const byGraph = onSets
    .filter(({ edgeProbability }) => edgeProbability !== null && edgeProbability === firstDensity)
    .flatMap((cell) => graphs.map((graph) => ({ ...cell, graph })));
  const pictures = plan.pictures.map(({ name, grid }) => ({ name, grid: withMethods(grid, methods) }));
  const further = Object.keys(plugins.measures).flatMap((measure) => pictures.flatMap(pictureOf(measure)));
  return { ...plan, cells: [...onSets, ...byGraph], pictures: [...pictures, ...further] };
}

function withMethods(grid: PanelGrid | DotGrid, methods: readonly string[]): PanelGrid | DotGrid {
  if (!("entries" in grid)) return { ...grid, methods: [...grid.methods, ...methods] };
  return {
    ...grid,
    entries: [...grid.entries, ...methods.map((method) => ({ label: method, method, where: { method } }))],
  };
}

/** The same panels with another measure; none for a picture of CV, whose panels are those of GCD. */
function pictureOf(measure: string): (picture: PlannedPicture) => PlannedPicture[] {
  return ({ name, grid }) => {
    const title = `${measure}: ${grid.title.replace(/^Figure (\d): (GCD|CV)/, "the panels of Figure $1,")}`;
    const rows = grid.rows.map((row) => ({ ...row, label: row.label.replace(/^GCD/, measure) }));
    const only = { label: measure, where: {}, measure };
    if ("entries" in grid) return [{ name: `${name}-${measure}`, grid: { ...grid, title, rows, columns: [only] } }];
    if (grid.measure === "cv") return [];
    const columns = grid.columns.some((column) => column.measure !== undefined) ? [only] : grid.columns;
    return [{ name: `${name}-${measure}`, grid: { ...grid, title, rows, columns, measure } }];
  };
}

/** Data know their number of clusters when they are drawn. */
function setOf(
  cell: StudyCell,
  dataset: string,
  plugins: Plugins,
): Pick<StudyCell, "dataset" | "k" | "pointsPerDevice"> {
  const pointsPerDevice = cell.pointsPerDevice ?? DEALT;
  const { k = cell.k } = plugins.datasets[dataset]({ devices: cell.devices, pointsPerDevice, seed: cell.seed });
  return { dataset: dataset as StudyCell["dataset"], k, pointsPerDevice };
}

/** Points of a device where the study's own data are dealt and do not say. */
const DEALT = 100;

/** The points of a cell that names a data set of a plug-in; undefined for any other. */
export function pluggedPartition(cell: StudyCell, { datasets }: Plugins): Partition | undefined {
  const { dataset, devices, pointsPerDevice, seed } = cell;
  if (!Object.hasOwn(datasets, dataset)) return undefined;
  const drawn = datasets[dataset]({ devices, pointsPerDevice: pointsPerDevice ?? DEALT, seed });
  return { datasets: drawn.datasets, labels: drawn.labels ?? drawn.datasets.map(({ rows }) => new Uint32Array(rows)) };
}

/** The network of a cell that names a graph of a plug-in; undefined for any other. */
export function pluggedGraph({ graph, devices, seed }: StudyCell, { graphs }: Plugins): Graph | undefined {
  return graph === undefined ? undefined : graphs[graph]({ devices, seed, text: "" });
}
