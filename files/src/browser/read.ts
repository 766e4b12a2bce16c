// The readers where files are Blobs, such as those that somebody dropped on a page. The ending of a File's name says which
// text it is: a Blob without a name is taken for delimited text, unless it is Parquet.

import { type Bounds, boundsOf } from "../bounds.ts";
import { type LabelOf, type LabelOptions, labelled } from "../label.ts";
import { type Edge, linksOf } from "../links/read.ts";
import { type FileLayout, layoutOf, type ReadOptions, tableOf } from "../read.ts";
import type { PieceWriter } from "../source.ts";
import type { Table } from "../table.ts";
import { openBlob } from "./file.ts";
import { webPlatform } from "./platform.ts";

const opener = (blob: Blob) => async () => openBlob(blob, webPlatform);

/** The chosen columns of a file as numbers. */
export function readTable(blob: Blob, options: ReadOptions = {}): Promise<Table> {
  return tableOf(opener(blob), options);
}

/** What a file is like before its rows are read. */
export function readLayout(blob: Blob, options: ReadOptions = {}): Promise<FileLayout> {
  return layoutOf(opener(blob), options);
}

/** The links between devices of these names that a file lists. */
export function readLinks(blob: Blob, names: readonly string[]): Promise<Edge[]> {
  return linksOf(opener(blob), names);
}

/** The bounds that a file states for these columns. */
export function readBounds(blob: Blob, columns: readonly string[]): Promise<Bounds[]> {
  return boundsOf(opener(blob), columns);
}

/** The file with a column of labels, in pieces. Returns the names of columns that its format's writer cannot carry over. */
export function labelFile(
  blob: Blob,
  labelOf: LabelOf,
  write: PieceWriter,
  options: LabelOptions = {},
): Promise<string[]> {
  return labelled(opener(blob), labelOf, write, options);
}
