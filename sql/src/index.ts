// The public API of @fedkm/sql: from an address to a source.

export type { Way } from "./address.ts";
export type { Dialect, Measure } from "./dialect.ts";
export { spark, trino } from "./dialects.ts";
export { SourceError } from "./driver.ts";
export type { Engine, EngineColumn } from "./engine.ts";
export { lookAtSource } from "./look.ts";
export {
  type BoundedSource,
  type ColumnScaling,
  describeSource,
  engineSource,
  type OpenOptions,
  type OpenSource,
  openSource,
  type Relation,
} from "./open.ts";
export type { Watcher } from "./source.ts";
export type { Bounds } from "./statements.ts";
export type { MissingRows } from "./survey.ts";
