// A link as a file states it: two names and perhaps a weight.

export interface NamedLink {
  readonly ends: readonly [string, string];
  readonly weight?: string;
  /** Where it stands in the file, if that has lines. */
  readonly line?: number;
}
