// How much a file may hold. What is larger is refused at once instead of filling the memory.

export interface Limits {
  /** Of the file on disk, and of a compressed one when unpacked. */
  readonly fileBytes: number;
  readonly lineBytes: number;
  readonly rows: number;
  readonly columns: number;
  /** Numbers read: rows times chosen columns. */
  readonly cells: number;
  /** Size of a number: beyond 2^53 not every whole number is a double, and a cell would be changed without a word. */
  readonly magnitude: number;
  /** Different values of a category. */
  readonly values: number;
}

export const defaultLimits: Limits = {
  fileBytes: 2 * 2 ** 30,
  lineBytes: 2 ** 20,
  rows: 5e6,
  columns: 1024,
  cells: 1e8,
  magnitude: 2 ** 53,
  values: 256,
};

/** Of files that are read as a whole: links and bounds. */
export const wholeLimits: Limits = { ...defaultLimits, fileBytes: 64 * 2 ** 20, lineBytes: 64 * 2 ** 20 };
