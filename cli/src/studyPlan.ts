// A study as tables need it: which rows its devices use, on which scale, and what they reach when they are simulated.

import { edges, type Graph } from "@fedkm/core";
import {
  isPlainStudy,
  rowsThatCount,
  type Study,
  scaleRows,
  simulateStudy,
  studyColumns,
  studyEncoding,
  tableFeatures,
  tableRows,
  weightScale,
} from "@fedkm/device";
import type { MissingPolicy } from "@fedkm/files";
import type { StudyPlan } from "@fedkm/tables";
import { UsageError } from "./failure.ts";

/** The flags of fedkm fit that a study stands for which leaves nothing open. */
export function flagsOfClosedStudy(study: Study) {
  const { k, alpha, coupling, weighting } = study;
  const missing: MissingPolicy = study.missing ?? "refuse";
  const { columns, categories } = studyColumns(study);
  const words = categories.length > 0 ? { categories } : {};
  return { study: studyPlan(study), k, alpha, coupling, weighting, columns, missing, ...words };
}

export function studyPlan(study: Study): StudyPlan {
  return {
    study,
    features: isPlainStudy(study) ? undefined : featuresOf(study),
    rowsThatCount: (points) => rowsThatCount(study, points),
    scaleRows: (points) => scaleRows(study, points),
    weightScale: (datasets) => weightScale(study, datasets),
    simulate(network, seed, { onProgress }) {
      checkLinks(network.graph, network.names);
      return simulateStudy(study, network, seed, (milliseconds, objective) =>
        onProgress?.({ step: "simulate", milliseconds, objective }),
      );
    },
  };
}

/** As devices make them of their files. */
function featuresOf(study: Study): NonNullable<StudyPlan["features"]> {
  const names = study.features.map(({ name }) => name);
  const fill = study.features.flatMap((feature) => feature.fill ?? []);
  return {
    encoding: studyEncoding(study),
    fill: fill.length === names.length ? fill : undefined,
    encode({ categories, ...table }) {
      const points = tableFeatures(study, tableRows({ ...table, ...(categories && { categories }) }));
      return { ...table, columns: names, points, missing: names.map(() => ({ count: 0, line: 0 })) };
    },
  };
}

/** Links between devices have no weights. */
function checkLinks(graph: Graph, names: readonly string[]): void {
  for (const [i, j, weight] of edges(graph)) {
    if (weight === 1) continue;
    throw new UsageError(`links must have weight 1 with --study, got ${weight} between ${names[i]} and ${names[j]}`);
  }
}
