// Where personalisation pays, the paper's point: the same points dealt in five ways, each device judged on rows it has not seen.

import {
  localSetting,
  paperSetting,
  type StartName,
  type StudyCell,
  seedOfRun,
  splitNames,
  startTitles,
} from "../cell.ts";
import { kinds } from "./figures.ts";
import { type DotEntry, type Planner, plannedRuns } from "./plan.ts";

/** From nearly alone to nearly one clustering. */
const strengths = [0.01, 0.1, 1, 10];
/** One clustering for all: of their own start, or of a common seed. */
const common = ["consensus", "fkm", "kfed"] as const;
const POINTS = 50;

/** Few points, so that a device alone cannot know its clusters well. */
export const heterogeneity: Planner = (options) => {
  const study = "heterogeneity";
  const shown = options.quick ? (["var"] as const) : kinds;
  const cells = shown.flatMap((kind) =>
    splitNames.flatMap((split) =>
      plannedRuns(options).flatMap((run): StudyCell[] => {
        const dataset = `${kind} ${split}` as const;
        const drawn = { study, dataset, pointsPerDevice: POINTS, run, seed: seedOfRun(options.seed, run) };
        return [
          { ...localSetting, ...drawn },
          { ...localSetting, ...drawn, method: "pooled" },
          ...common.map((method) => ({ ...localSetting, ...drawn, method, edgeProbability: 0.7 })),
          ...options.starts.flatMap((start) => strengths.map((alpha) => ({ ...paperSetting, ...drawn, start, alpha }))),
        ];
      }),
    ),
  );
  const pictures = options.starts.map((start) => ({
    name: `${study}-${start}`,
    grid: {
      title: "Heterogeneity: left of the line personalisation pays",
      caption: `Start of Algorithm 1: ${startTitles[start]}.`,
      rows: shown.map((kind) => ({
        label: kind,
        where: { study, dataset: splitNames.map((split) => `${kind} ${split}` as const) },
      })),
      columns: splitNames.map((split) => ({
        label: split,
        where: { dataset: kinds.map((kind) => `${kind} ${split}` as const) },
        measure: "own_cost_ratio",
      })),
      summary: "mean" as const,
      entries: entriesOf(start),
      // One scale for all panels, and a line where a device does as well as pooled.
      level: 1,
      across: "cost of a device's centroids on its own unseen rows, relative to pooled k-means",
    },
  }));
  return { cells, pictures, figures: [] };
};

function entriesOf(start: StartName): DotEntry[] {
  const entry = (label: string, method: string) => ({ label, method, where: { method } });
  return [
    entry("Local k-means", "local"),
    ...strengths.map((alpha) => ({
      label: `Algorithm 1, α ${alpha}`,
      method: "fedkm",
      where: { method: "fedkm", start, alpha },
    })),
    entry("Consensus", "consensus"),
    entry("FKM", "fkm"),
    entry("k-FED", "kfed"),
  ];
}
