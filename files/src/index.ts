// Files in: tables of numbers from CSV, TSV, JSON lines and Parquet, and the same files out with a column of labels.

export { type DialectOptions, delimiters } from "./csv/dialect.ts";
export { expandPatterns } from "./glob.ts";
export { type LabelOf, labelFile, type PieceWriter } from "./label.ts";
export type { Column, ColumnKind, Selection } from "./layout.ts";
export { defaultLimits, type Limits } from "./limits.ts";
export { readLinks } from "./links/read.ts";
export { checkMissing, completeRows, type MissingPolicy, missingPolicies } from "./missing.ts";
export { type ColumnProfile, type Profile, profile, profileColumns } from "./profile.ts";
export { type FileLayout, type ReadOptions, readLayout, readTable } from "./read.ts";
export { asArgument, DataError, type Place } from "./refusal.ts";
export { applyScaling, federatedMeans, fillMissing, type Scaling, standardScaling, undoScaling } from "./scaling.ts";
export type { Format, MissingCells, Table } from "./table.ts";
