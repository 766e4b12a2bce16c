// The house as a table: every folder, what it holds, and the folders that it may import. The boundaries test holds the
// code to it, and the picture and the tables of docs/architecture.md are drawn from it.

export interface Room {
  /** What a newcomer finds here. */
  readonly holds: string;
  /** The rooms of the same package that it imports. */
  readonly imports?: readonly string[];
}

export interface Package {
  readonly holds: string;
  /** Where it runs. */
  readonly runs: string;
  /** The packages of ours that it imports. */
  readonly imports: readonly string[];
  /** The folders of its `src`, from the bottom up; `.` is the files beside them. None: the package is one room. */
  readonly rooms?: Readonly<Record<string, Room>>;
}

export const packages: Readonly<Record<string, Package>> = {};
