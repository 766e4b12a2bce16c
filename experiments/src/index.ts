// The public API of @fedkm/experiments, one line per file.

export type { StartName } from "./cell.ts";
export { dealBy, parseSplit, type Split } from "./cell.ts";
export {
  type Comparison,
  type ComparisonStart,
  type ComparisonTable,
  compareMethods,
  type MethodOutcome,
  type OptionsByMethod,
  type OverBudget,
  parseMethodOptions,
} from "./compare/compare.ts";
export { drawBudget } from "./compare/picture.ts";
export {
  type DataRequest,
  type GraphRequest,
  loadPlugins,
  type MeasuredResult,
  type PluginData,
  type Plugins,
} from "./plugins/plugin.ts";
export { featuresOf, runStudy, type StudyProgress, type StudyRequest } from "./reproduce.ts";
export type { WatchedRun } from "./results/report.ts";
export { type Results, resultsOf } from "./results/results.ts";
export { studies } from "./studies/index.ts";
export { parseCsv, type TableRow } from "./table.ts";
export { type ComparedData, comparedData, comparedDatasets, deviceNumbers } from "./trial/datasets.ts";
export { OtherRunError } from "./trial/journal.ts";
