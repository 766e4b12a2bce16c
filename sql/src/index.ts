// The public API of @fedkm/sql: from an address to a source.

export { SourceError } from "./driver.ts";
export { lookAtSource } from "./look.ts";
export { type ColumnScaling, describeSource, type OpenOptions, type OpenSource, openSource } from "./open.ts";
export type { Watcher, Way } from "./source.ts";
export type { MissingRows } from "./survey.ts";
