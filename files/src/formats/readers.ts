// The functions of this package over any way to open a file: by its path in Node, as a Blob everywhere.

import type { Opener, PieceWriter } from "../source/source.ts";
import { readBoundsFile } from "./bounds.ts";
import { type LabelFileOptions, type LabelOf, labelledFileName, writeLabelledFile } from "./label.ts";
import { readLinksFormat } from "./links.ts";
import { type ReadOptions, readFormatLayout, readFormatTable } from "./read.ts";

export function formatReaders<Input>(openerOf: (input: Input) => Opener) {
  return {
    /** The chosen columns of a file as numbers. A file that changes meanwhile is read once more, then refused. */
    readTable: (input: Input, options: ReadOptions = {}) => readFormatTable(openerOf(input), options),
    /** What a file is like before its rows are read. */
    readLayout: (input: Input, options: ReadOptions = {}) => readFormatLayout(openerOf(input), options),
    /** The links between devices of these names that a file lists. */
    readLinks: (input: Input, names: readonly string[]) => readLinksFormat(openerOf(input), names),
    /** The bounds that a file states for these columns. */
    readBounds: (input: Input, columns: readonly string[]) => readBoundsFile(openerOf(input), columns),
    /** The file with a column of labels, in pieces. Returns the names of columns that its format's writer cannot carry over. */
    labelFile: (input: Input, labelOf: LabelOf, write: PieceWriter, options: LabelFileOptions = {}) =>
      writeLabelledFile(openerOf(input), labelOf, write, options),
    /** What the labelled copy of a file is to be called: in some formats none is written. */
    nameOfLabelled: (input: Input, options: LabelFileOptions = {}) => labelledFileName(openerOf(input), options),
  };
}
