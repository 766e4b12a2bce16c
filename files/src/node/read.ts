// The readers where there is a file system: files by their paths, and Blobs as everywhere.

import { basename } from "node:path";
import { type Bounds, boundsOf } from "../bounds.ts";
import { openBlob } from "../browser/file.ts";
import { type LabelOf, type LabelOptions, labelled, labelledName } from "../label.ts";
import { type Edge, linksOf } from "../links/read.ts";
import { type FileLayout, layoutOf, type ReadOptions, tableOf } from "../read.ts";
import type { PieceWriter } from "../source.ts";
import type { Table } from "../table.ts";
import { openFile } from "./file.ts";
import { nodePlatform } from "./platform.ts";

/** A path, or what a browser has instead. */
export type FileInput = string | Blob;

const opener = (input: FileInput) => async () =>
  typeof input === "string" ? openFile(input) : openBlob(input, nodePlatform);

/** The chosen columns of a file as numbers. A file that changes meanwhile is read once more, then refused. */
export function readTable(input: FileInput, options: ReadOptions = {}): Promise<Table> {
  return tableOf(opener(input), options);
}

/** What a file is like before its rows are read. */
export function readLayout(input: FileInput, options: ReadOptions = {}): Promise<FileLayout> {
  return layoutOf(opener(input), options);
}

/** The links between devices of these names that a file lists. */
export function readLinks(input: FileInput, names: readonly string[]): Promise<Edge[]> {
  return linksOf(opener(input), names);
}

/** The bounds that a file states for these columns. */
export function readBounds(input: FileInput, columns: readonly string[]): Promise<Bounds[]> {
  return boundsOf(opener(input), columns);
}

/** What the labelled copy of a file is to be called: in some formats none is written. */
export function nameOfLabelled(file: string, options: LabelOptions = {}): Promise<string> {
  return labelledName(opener(file), basename(file), options);
}

/** The file with a column of labels, in pieces. Returns the names of columns that its format's writer cannot carry over. */
export function labelFile(
  input: FileInput,
  labelOf: LabelOf,
  write: PieceWriter,
  options: LabelOptions = {},
): Promise<string[]> {
  return labelled(opener(input), labelOf, write, options);
}
