// A study as a fit of tables takes it: which rows its devices use, on which scale, and what they reach when they are simulated.

import type { Matrix } from "@fedkm/core";
import type { MissingPolicy, Table } from "@fedkm/files";
import type { Study } from "../study/study.ts";
import { weightScale } from "../study/studyOfPoints.ts";
import { isPlainStudy, studyColumns, studyEncoding, tableFeatures, tableRows } from "../study/tableRows.ts";
import { rowsThatCount, scaleRows } from "../study/units.ts";
import { type StudyNetwork, simulateStudy } from "./studyRun.ts";

/** What a closed study stands for in a request for clusters. */
export function studyRequest(study: Study) {
  const { k, alpha, coupling, weighting } = study;
  const missing: MissingPolicy = study.missing ?? "refuse";
  const { columns, categories } = studyColumns(study);
  const words = categories.length > 0 ? { categories } : {};
  return { study: studyPlan(study), k, alpha, coupling, weighting, columns, missing, ...words };
}

/** The plan of a study for a request, where all else is said. */
export function studyPlan(study: Study) {
  return {
    study,
    features: isPlainStudy(study) ? undefined : plannedFeatures(study),
    rowsThatCount: (points: Matrix) => rowsThatCount(study, points),
    scaleRows: (points: Matrix) => scaleRows(study, points),
    weightScale: (datasets: readonly Matrix[]) => weightScale(study, datasets),
    simulate: (
      network: StudyNetwork,
      seed: number,
      {
        onProgress,
      }: { onProgress?: ((step: { step: "simulate"; milliseconds: number; objective: number }) => void) | undefined },
    ) =>
      simulateStudy(study, network, seed, (milliseconds, objective) =>
        onProgress?.({ step: "simulate", milliseconds, objective }),
      ),
  };
}

/** As devices make them of their files. */
function plannedFeatures(study: Study) {
  const names = study.features.map(({ name }) => name);
  const fill = study.features.flatMap((feature) => feature.fill ?? []);
  return {
    encoding: studyEncoding(study),
    fill: fill.length === names.length ? fill : undefined,
    encode({ categories, ...table }: Table): Table {
      const points = tableFeatures(study, tableRows({ ...table, ...(categories && { categories }) }));
      return { ...table, columns: names, points, missing: names.map(() => ({ count: 0, line: 0 })) };
    },
  };
}
