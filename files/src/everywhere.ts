// What is the same on every platform.

export type { AddedColumn } from "./added.ts";
export type { Bounds } from "./bounds.ts";
export type { CellRules } from "./cell.ts";
export { csvCell, csvLine } from "./csv/cell.ts";
export { delimiters } from "./csv/delimiter.ts";
export type { DialectOptions } from "./csv/dialect.ts";
export { csvRecords } from "./csv/records.ts";
export {
  type ColumnMean,
  checkUnseen,
  columnMeans,
  type EncodedColumn,
  type Encoding,
  encodeTable,
  encodingOf,
  firstColumns,
  hasCategories,
  matrixColumns,
} from "./encoding.ts";
export type { LabelOf } from "./label.ts";
export type { Column, ColumnKind, Selection } from "./layout.ts";
export { defaultLimits, type Limits } from "./limits.ts";
export { checkMissing, completeRows, type MissingPolicy, missingPolicies } from "./missing.ts";
export { type ColumnProfile, type Profile, profile, profileColumns } from "./profile.ts";
export { federatedQuantiles, federatedRange } from "./quantiles.ts";
export type { FileLayout, ReadOptions } from "./read.ts";
export { DataError, type Place } from "./refusal.ts";
export type { ActionRemedy, Remedy, RemedyPosition, RemedyWords } from "./remedy.ts";
export {
  applyScaling,
  applyTransforms,
  federatedMeans,
  federatedMoments,
  fillMissing,
  type Scaling,
  standardScaling,
  undoScaling,
  unscaled,
} from "./scaling.ts";
export { type PieceWriter, type TextEncoding, textEncodings } from "./source.ts";
export { columnStatistics, type Statistics } from "./statistics.ts";
export { type Format, type MissingCells, NO_DEVICE, type Table, type Words } from "./table.ts";
export { rankTransform, type Transform } from "./transform.ts";
export { type LabelFormat, labelFormats } from "./write.ts";
