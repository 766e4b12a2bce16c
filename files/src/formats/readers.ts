// The functions of this package over any way to open a file: by its path in Node, as a Blob everywhere.

import type { Opener, PieceWriter } from "../source/source.ts";
import { type LabelFileOptions, type LabelOf, labelledFileName, writeLabelledFile } from "./label.ts";
import { readBoundsFile, readLinksFormat } from "./links.ts";
import { type ReadOptions, readFormatLayout, readFormatTable } from "./read.ts";

export function formatReaders<Input>(openerOf: (input: Input) => Opener) {
  return {
    readTable: (input: Input, options: ReadOptions = {}) => readFormatTable(openerOf(input), options),
    readLayout: (input: Input, options: ReadOptions = {}) => readFormatLayout(openerOf(input), options),
    readLinks: (input: Input, names: readonly string[]) => readLinksFormat(openerOf(input), names),
    readBounds: (input: Input, columns: readonly string[]) => readBoundsFile(openerOf(input), columns),
    labelFile: (input: Input, labelOf: LabelOf, write: PieceWriter, options: LabelFileOptions = {}) =>
      writeLabelledFile(openerOf(input), labelOf, write, options),
    nameOfLabelled: (input: Input, options: LabelFileOptions = {}) => labelledFileName(openerOf(input), options),
  };
}
