// The public API of @fedkm/sql: from an address to a source.

export { isAddress } from "./address.ts";
export { SourceError } from "./driver.ts";
export { type OpenOptions, type OpenSource, openSource } from "./open.ts";
export type { Watcher, Way } from "./source.ts";
export type { MissingRows } from "./survey.ts";
