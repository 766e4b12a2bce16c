// What is the same on every platform.

export type { ColumnBounds } from "./bounds.ts";
export { delimiters } from "./csv/dialect.ts";
export { csvCell, csvLine, csvRecords } from "./csv/records.ts";
export type { LabelOf } from "./label.ts";
export * from "./prepare/encoding.ts";
export * from "./prepare/profile.ts";
export { federatedQuantiles, federatedRange } from "./prepare/quantiles.ts";
export * from "./prepare/scaling.ts";
export type { FileLayout, ReadOptions } from "./read.ts";
export {
  type ActionRemedy,
  DataError,
  type FilePosition,
  type Remedy,
  type RemedyPosition,
  type RemedyWords,
} from "./source/refusal.ts";
export { defaultLimits, type Limits, type PieceWriter, type TextEncoding, textEncodings } from "./source/source.ts";
export type { CellRules } from "./table/cell.ts";
export { type AddedColumn, type LabelFormat, labelFormats } from "./table/cellColumns.ts";
export type { Column, ColumnKind, DialectOptions, Selection } from "./table/columns.ts";
export {
  type CategoryValues,
  checkMissing,
  completeRows,
  type Format,
  type MissingCells,
  type MissingPolicy,
  missingPolicies,
  NO_DEVICE,
  type Table,
} from "./table/table.ts";
