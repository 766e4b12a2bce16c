// The public API of @fedkm/sql: from an address to a source.

export type { ReadMode } from "./address.ts";
export type { DistanceSql, SqlDialect } from "./dialect.ts";
export { spark, trino } from "./dialects.ts";
export { SourceError } from "./driver.ts";
export type { EngineColumn, SqlEngine } from "./engine.ts";
export {
  type BoundedSource,
  type ColumnScaling,
  describeSqlSource,
  engineSource,
  type LabelledDevice,
  type OpenOptions,
  type OpenSource,
  openSource,
  type Relation,
  sqlSourceVersion,
  sumsOfSqlSource,
  wordsOfSqlSource,
} from "./open.ts";
export type { Watcher } from "./source.ts";
export type { SourceBounds } from "./statements.ts";
export type { MissingRows } from "./survey.ts";
export type { EncodedSourceColumn, SourceDevice, SourceWords, WordsRequest } from "./words.ts";
