// The public API of @fedkm/experiments, one line per file.

export type { StartName } from "./cell.ts";
export {
  type Comparison,
  type ComparisonStart,
  type ComparisonTable,
  compareMethods,
  type MethodOutcome,
  type OptionsByMethod,
  type OverBudget,
  parseMethodOptions,
} from "./compare.ts";
export { type ComparedData, comparedData, comparedDatasets, deviceNumbers } from "./datasets.ts";
export { OtherRunError } from "./journal.ts";
export { drawBudget } from "./picture/budget.ts";
export {
  type DataRequest,
  type GraphRequest,
  loadPlugins,
  type MeasuredResult,
  type PluginData,
  type Plugins,
} from "./plugins/plugin.ts";
export type { WatchedRun } from "./report.ts";
export { featuresOf, runStudy, type StudyProgress, type StudyRequest } from "./reproduce.ts";
export { type Results, resultsOf } from "./results.ts";
export { dealBy, parseSplit, type Split } from "./split.ts";
export { studies } from "./studies/index.ts";
export { parseCsv, type TableRow } from "./table.ts";
