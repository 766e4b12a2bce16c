// Runs over rows that stay where they are, and what such rows must answer: the entry @fedkm/core/sources.

export { addKernelBlock } from "../kernel/wasm.ts";
export { fitPasses, fitSources, type PassSummary, type SourcesModel, type SourcesOptions } from "./fitSources.ts";
export type { Source, StatisticsParts } from "./source.ts";
export {
  joinSources,
  memorySource,
  rowsNearBorders,
  sourceGrids,
  sourceParts,
  sourceStatistics,
} from "./source.ts";
