// The public API of @fedkm/experiments, one line per file.

export type { StartName } from "./cell.ts";
export { dealBy, parseDeal, type Split, seedOfRun } from "./cell.ts";
export {
  type ComparisonProblem,
  type ComparisonStart,
  type ComparisonTable,
  commonStarts,
  comparedMethodOptions,
  compareMethods,
  type MethodOutcome,
  type OptionsByMethod,
  type OverBudget,
} from "./compare/compare.ts";
export { type ComparedData, comparedData, comparedDatasets, comparedDeviceNames } from "./compare/data.ts";
export { drawComparison } from "./compare/picture.ts";
export {
  type ComparedSetting,
  type Contest,
  comparedSettings,
  contest,
  judgedSettings,
  type MethodStandings,
  type Standing,
} from "./compare/standings.ts";
export {
  type ComparisonRequest,
  type ComparisonSummary,
  comparisonLines,
  comparisonNotes,
  comparisonPage,
  comparisonSummary,
  comparisonTable,
  outcomeLines,
  overBudgetTexts,
} from "./compare/summary.ts";
export {
  type DataRequest,
  type GraphRequest,
  loadExperimentPlugins,
  type MeasuredResult,
  type PluginData,
  type Plugins,
} from "./plugins/plugin.ts";
export { reducedFeatures, reproduceStudy, type StudyProgress, type StudyRequest } from "./reproduce.ts";
export type { WatchedRun } from "./results/report.ts";
export { type Results, resultLines, resultsOf } from "./results/results.ts";
export { bundledStudies, bundledSweep, readSweep, sweptFiles } from "./studies/file.ts";
export { parseCsv, type TableRow } from "./table.ts";
export { OtherRunError } from "./trial/journal.ts";
