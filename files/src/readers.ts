// The functions of this package over any way to open a file: by its path in Node, as a Blob everywhere.

import { boundsOf, type ColumnBounds } from "./bounds.ts";
import { type LabelFileOptions, type LabelOf, labelledName, writeLabelled } from "./label.ts";
import { linksOf, type WeightedLink } from "./links.ts";
import { type FileLayout, layoutOf, type ReadOptions, tableOf } from "./read.ts";
import type { Opener, PieceWriter } from "./source/source.ts";
import type { Table } from "./table/table.ts";

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

export function fileReaders<Input>(openerOf: (input: Input) => Opener): FileReaders<Input> {
  return {
    readTable: (input, options = {}) => tableOf(openerOf(input), options),
    readLayout: (input, options = {}) => layoutOf(openerOf(input), options),
    readLinks: (input, names) => linksOf(openerOf(input), names),
    readBounds: (input, columns) => boundsOf(openerOf(input), columns),
    labelFile: (input, labelOf, write, options = {}) => writeLabelled(openerOf(input), labelOf, write, options),
    nameOfLabelled: (input, options = {}) => labelledName(openerOf(input), options),
  };
}
