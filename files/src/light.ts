// What a command needs of this package before it reads a file: names, refusals, and the words of one line. It loads seven
// modules where the whole package is 45.

export { csvRecords } from "./csv/records.ts";
export { fileSystemReason } from "./node/paths.ts";
export { DataError } from "./source/refusal.ts";
export { type TextEncoding, textEncodings } from "./source/source.ts";
export { type LabelFormat, labelFormats } from "./table/cellColumns.ts";
export { dateRules } from "./table/dates.ts";
