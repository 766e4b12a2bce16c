// The public API of @fedkm/experiments, one line per file.

export { aggregate, aggregateColumns } from "./aggregate.ts";
export { type AgreementCount, agreementColumns, compareWithStudy, countAgreement } from "./agreement.ts";
export { batches, type Cell, type StartName } from "./cell.ts";
export { certifiedLine } from "./certified.ts";
export { claimColumns, judgeClaims } from "./claims/judge.ts";
export {
  type CommonStart,
  compareMethods,
  type MethodOutcome,
  type MethodSettings,
  type Table as ComparisonTable,
  type TooDear,
} from "./compare.ts";
export { digits, iris } from "./datasets.ts";
export { type HeterogeneityTable, heterogeneityGrid } from "./heterogeneity.ts";
export { personalisationOf } from "./personalisation.ts";
export { drawBudget } from "./picture/budget.ts";
export { drawPicture } from "./picture/draw.ts";
export { drawHeterogeneity } from "./picture/heterogeneity.ts";
export { latexTable, pgfplotsTable } from "./picture/tables.ts";
export { loadPlugins } from "./plugins/load.ts";
export { withPlugins } from "./plugins/plan.ts";
export type {
  DataRequest,
  GraphRequest,
  MeasuredResult,
  PluginData,
  Plugins,
} from "./plugins/plugin.ts";
export { runBatches, workIn } from "./pool.ts";
export { renderReport } from "./report.ts";
export { dealBy, parseSplit, type Split } from "./split.ts";
export { featuresPlan, reducedFeatures } from "./studies/comparison.ts";
export { studies } from "./studies/index.ts";
export type { Plan, PlanOptions } from "./studies/plan.ts";
export { parseCsv, type TableRow, toCsv } from "./table.ts";
export { type RunRow, runColumns } from "./trial.ts";
export { commit, packages, version } from "./version.ts";
