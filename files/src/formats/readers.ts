// The functions of this package over any way to open a file: by its path in Node, as a Blob everywhere.

import type { Opener, PieceWriter } from "../source/source.ts";
import type { Table } from "../table/table.ts";
import { type ColumnBounds, readBoundsFile } from "./bounds.ts";
import { type LabelFileOptions, type LabelOf, labelledFileName, writeLabelledFile } from "./label.ts";
import { readLinksFile, type WeightedLink } from "./links.ts";
import { type FileLayout, type ReadOptions, readFormatLayout, readFormatTable } from "./read.ts";

interface FileReaders<Input> {
  /** The chosen columns of a file as numbers. A file that changes meanwhile is read once more, then refused. */
  readTable(input: Input, options?: ReadOptions): Promise<Table>;
  /** What a file is like before its rows are read. */
  readLayout(input: Input, options?: ReadOptions): Promise<FileLayout>;
  /** The links between devices of these names that a file lists. */
  readLinks(input: Input, names: readonly string[]): Promise<WeightedLink[]>;
  /** The bounds that a file states for these columns. */
  readBounds(input: Input, columns: readonly string[]): Promise<ColumnBounds[]>;
  /** The file with a column of labels, in pieces. Returns the names of columns that its format's writer cannot carry over. */
  labelFile(input: Input, labelOf: LabelOf, write: PieceWriter, options?: LabelFileOptions): Promise<string[]>;
  /** What the labelled copy of a file is to be called: in some formats none is written. */
  nameOfLabelled(input: Input, options?: LabelFileOptions): Promise<string>;
}

export function formatReaders<Input>(openerOf: (input: Input) => Opener): FileReaders<Input> {
  return {
    readTable: (input, options = {}) => readFormatTable(openerOf(input), options),
    readLayout: (input, options = {}) => readFormatLayout(openerOf(input), options),
    readLinks: (input, names) => readLinksFile(openerOf(input), names),
    readBounds: (input, columns) => readBoundsFile(openerOf(input), columns),
    labelFile: (input, labelOf, write, options = {}) => writeLabelledFile(openerOf(input), labelOf, write, options),
    nameOfLabelled: (input, options = {}) => labelledFileName(openerOf(input), options),
  };
}
