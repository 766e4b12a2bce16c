// What is the same on every platform.

export { delimiters } from "./csv/dialect.ts";
export { csvCell, csvRecordLine, csvRecords } from "./csv/records.ts";
export type { LabelOf } from "./formats/label.ts";
export type { ColumnBounds } from "./formats/links.ts";
export type { FileLayout, ReadOptions } from "./formats/read.ts";
export * from "./prepare/encoding.ts";
export * from "./prepare/missing.ts";
export * from "./prepare/profile.ts";
export { federatedQuantiles, quantileRange } from "./prepare/quantiles.ts";
export * from "./prepare/scaling.ts";
export {
  type ActionRemedy,
  DataError,
  type FilePosition,
  type Remedy,
  type RemedyPosition,
  type RemedyWords,
} from "./source/refusal.ts";
export { defaultLimits, type Limits, type PieceWriter, type TextEncoding, textEncodings } from "./source/source.ts";
export { type CellRules, cellReader } from "./table/cell.ts";
export { type AddedColumn, type LabelFormat, labelFormats } from "./table/cellColumns.ts";
export type { Column, ColumnKind, DialectOptions, Selection } from "./table/columns.ts";
export { dateRules } from "./table/dates.ts";
export {
  type CategoryValues,
  type Format,
  type MissingCells,
  NO_DEVICE,
  type Table,
} from "./table/table.ts";
