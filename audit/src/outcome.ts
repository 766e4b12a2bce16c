// What came of one attempt of one attack, and of many.

/** In the order in which they are shown. */
const attacks = [
  "inversion",
  "coalition",
  "bystander",
  "probing",
  "sketches",
  "totals",
  "added row",
  "deleted row",
  "device joins",
  "device leaves",
  "row space",
  "restored backup",
  "replay",
  "membership",
] as const;
export type Attack = (typeof attacks)[number];

export interface Outcome {
  readonly attack: Attack;
  /** Largest error of the cluster means that were found, as a share of a feature's range; undefined: none were. */
  readonly groups?: number | undefined;
  /** Rows that were found, and the least error of one. */
  readonly rows?: number;
  readonly rowError?: number;
  /** Claims of rows that no row is near to. */
  readonly wrong?: number;
  /** Attempts that were a guess between two, and how many of them were right. */
  readonly guesses?: number;
  readonly rightGuesses?: number;
  /** Fewest rows that no published group tells apart. */
  readonly smallestClass?: number;
}

/** All attempts of one attack. */
export interface Tally {
  readonly attack: Attack;
  readonly tried: number;
  /** Attempts that found the means and sizes of clusters, and those that found a single row. */
  readonly groups: number;
  readonly withRows: number;
  /** All rows that were found. */
  readonly rows: number;
  readonly wrong: number;
  /** The least errors; null: nothing was found. */
  readonly groupsError: number | null;
  readonly rowError: number | null;
  readonly guesses: number;
  readonly rightGuesses: number;
  readonly smallestClass: number | null;
}

export function tally(outcomes: readonly Outcome[]): Tally[] {
  return attacks.flatMap((attack) => {
    const own = outcomes.filter((outcome) => outcome.attack === attack);
    if (own.length === 0) return [];
    const sum = (of: (outcome: Outcome) => number | undefined) => own.reduce((total, one) => total + (of(one) ?? 0), 0);
    const least = (of: (outcome: Outcome) => number | undefined) => {
      const found = own.flatMap((one) => of(one) ?? []);
      return found.length > 0 ? Math.min(...found) : null;
    };
    return {
      attack,
      tried: own.length,
      groups: own.filter(({ groups }) => groups !== undefined).length,
      withRows: own.filter(({ rows = 0 }) => rows > 0).length,
      rows: sum(({ rows }) => rows),
      wrong: sum(({ wrong }) => wrong),
      groupsError: least(({ groups }) => groups),
      rowError: least(({ rowError }) => rowError),
      guesses: sum(({ guesses }) => guesses),
      rightGuesses: sum(({ rightGuesses }) => rightGuesses),
      smallestClass: least(({ smallestClass }) => smallestClass),
    };
  });
}
