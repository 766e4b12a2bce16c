// How a file is refused: in one line that says where, what was expected, what stands there, and what helps.

export interface Place {
  readonly file: string;
  /** From 1, as editors count; of Parquet files the row, from 1. */
  readonly line?: number;
  /** Its name; its number from 1 where the name is not known, or is what is wrong. */
  readonly column?: string | number;
  /** Of a Parquet file what is no row, with the byte at which it begins: its footer, or a page of a row group. */
  readonly part?: string;
  readonly byte?: number;
  /** What is wrong concerns all of the file and no place in it, such as its size. */
  readonly whole?: true;
}

/** A file that cannot be read as numbers; nothing of it was used. */
export class DataError extends Error {
  override readonly name = "DataError";
  readonly place: Place;
  readonly remedy: string;
  /** The same without what stands in the file, for a log. */
  readonly withoutContents: string;

  /** `rule` completes "must ...", `got` is what stands there instead. */
  constructor(place: Place, rule: string, got: string, remedy: string, options?: ErrorOptions) {
    super(`${where(place)} must ${rule}, got ${got}; ${remedy}`, options);
    this.place = place;
    this.remedy = remedy;
    this.withoutContents = `${where(place)} must ${rule}`;
  }
}

function where({ file, line, column, part, byte, whole }: Place): string {
  const unit = /\.(parquet|pq)$/i.test(file) ? "row" : "line";
  return [
    whole ? `${file} as a whole` : file,
    ...(line === undefined ? [] : [`${unit} ${line}`]),
    ...(column === undefined ? [] : [`column ${JSON.stringify(column)}`]),
    ...(part === undefined ? [] : [part]),
    ...(byte === undefined ? [] : [`byte ${byte}`]),
  ].join(", ");
}

const MOST_SHOWN = 40;

/** A cell as it is shown: quoted, on one line, and not longer than a line can bear. */
export function shown(text: string): string {
  return JSON.stringify(text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}...` : text);
}

/** Names as one argument of a command line: commas between, names with a comma in quotes, all of it in the shell's. */
export function asArgument(names: readonly string[]): string {
  const joined = names.map((name) => (/[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(",");
  return /^[\w.,:@%+-]+$/.test(joined) ? joined : `'${joined.replaceAll("'", "'\\''")}'`;
}
