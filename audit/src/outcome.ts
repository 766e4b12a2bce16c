// What came of one attempt of one attack and of many, and an audit in words that a data officer can read.

/** Who attacks, and how, in the order in which attacks are shown. */
export const titles = {
  inversion: "the only neighbour reads",
  coalition: "all neighbours read together",
  bystander: "one of several neighbours reads",
  probing: "a neighbour moves on purpose",
  sketches: "sketches, which all devices get",
  describing: "all neighbours read the describing",
  totals: "totals, which all devices get",
  "added row": "neighbours wait for a new row",
  "deleted row": "neighbours wait for a deletion",
  "device joins": "neighbours wait for a new device",
  "device leaves": "neighbours wait for one to leave",
  growth: "60 days of growth and churn",
  "row space": "all sums, groups known",
  "restored backup": "an old backup is restored",
  replay: "old frames are sent again",
  membership: "is this row among the data?",
} as const;

export type Attack = keyof typeof titles;

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
  /** Fewest rows in any combination of published sums that was found. */
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

export function tallyAttacks(outcomes: readonly Outcome[]): Tally[] {
  return (Object.keys(titles) as Attack[]).flatMap((attack) => {
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

export const explanations: Readonly<Record<Attack, string>> = {
  inversion: "The only neighbour of a device solves its messages for the means and sizes of its clusters.",
  coalition: "All neighbours of a device put together what they sent and what they got, and solve for the same.",
  bystander:
    "One neighbour tries that without knowing what others sent. It succeeds while it is the only one that is there.",
  probing: "The only neighbour moves a centroid step by step, so that rows change their cluster one after the other.",
  describing:
    "All neighbours of a device take their pads off what it adds while columns are described, before and after a row is added, and look for counts and differences of few rows.",
  sketches: "When a network begins, each device's own cluster means and rough sizes travel to every device.",
  totals: "With shared clusters, totals of two moments differ by the rows that changed their cluster in between.",
  "added row": "The sums of all rows before and after a row was added differ by that row.",
  "deleted row": "The same, when a row was deleted.",
  "device joins":
    "A new device pulls at the clusters. Sums before and after differ by the rows that changed their cluster.",
  "device leaves": "The same, when a device leaves.",
  growth: "Rows come and go for 60 days. The strongest reader keeps every sum, and is told who was in every group.",
  "row space":
    "The strongest reader of sums: it is told who was in every group, and combines all sums that were ever sent.",
  "restored backup":
    "A device and its data are put back to an older copy, and what it sent before and after is compared.",
  replay: "A neighbour's old frames are sent to the device again. They count as found if the device heeds them.",
  membership:
    "An attacker who holds two rows, one of them of the device, says which one it is by the means it was sent.",
};

/** The worst that an attack found, in words. */
export function leakOf(tally: Tally): string {
  const { attack, withRows, groups, rowError, groupsError, guesses, wrong, smallestClass } = tally;
  if (attack === "membership") return guesses === 0 ? "nothing to guess" : guessed(tally);
  if (attack === "replay") return withRows > 0 ? "old frames count again" : "nothing: old frames are refused";
  if (withRows > 0) return `one row, ${digits(rowError)}`;
  if (groups > 0) {
    const sizes = attack === "sketches" ? "rough sizes" : "sizes";
    return `cluster means, ${digits(groupsError)}, and ${sizes}`;
  }
  if (smallestClass !== null) return `nothing below groups of ${smallestClass} rows`;
  return wrong > 0 ? "nothing: what it took for a row is none" : "nothing";
}

function digits(error: number | null): string {
  if (error === null || error <= 1e-9) return "to the last digit";
  return `to ${Math.floor(-Math.log10(error))} digits`;
}

function guessed({ guesses, rightGuesses }: Tally): string {
  const [low, high] = membershipInterval(rightGuesses, guesses);
  const percent = (share: number) => `${Math.round(100 * share)} %`;
  const range = `95 % interval ${percent(low)} to ${percent(high)}`;
  return `right in ${percent(rightGuesses / guesses)} of ${guesses} guesses, 50 % is chance (${range})`;
}

/** Of a share, 95 % (Wilson). */
export function membershipInterval(right: number, of: number): [number, number] {
  const z = 1.96;
  const share = right / of;
  const centre = (share + (z * z) / (2 * of)) / (1 + (z * z) / of);
  const half = (z / (1 + (z * z) / of)) * Math.sqrt((share * (1 - share)) / of + (z * z) / (4 * of * of));
  return [Math.max(0, centre - half), Math.min(1, centre + half)];
}

/** Single rows that attacks found, without those of an attack that finds none. */
export function rowsFound(tallies: readonly Tally[]): number {
  return tallies.reduce((sum, { attack, rows }) => sum + (attack === "replay" ? 0 : rows), 0);
}

/** One sentence or two that can stand alone. */
export function verdictOf(privacy: string, tallies: readonly Tally[]): string {
  const rows = rowsFound(tallies);
  const means = tallies.some(({ groups }) => groups > 0);
  if (rows > 0) {
    const by = tallies.filter(({ withRows }) => withRows > 0).length;
    const found = `Single rows can be found: ${rows} here, by ${by} of ${tallies.length} attacks.`;
    return privacy === "open"
      ? `${found} Use "open" only for data that may be public.`
      : `${found} That breaks the promise of "${privacy}": do not use it for personal data, and report it.`;
  }
  return means
    ? "No single row was found. The means and sizes of clusters can be computed by neighbours."
    : "Nothing was found by these attacks.";
}

/** What an audit without findings does not rule out. */
export function remainingAttacks(privacy: string, minimum: number): readonly string[] {
  const always = [
    "Neighbours learn how many clusters of which place and size a device has, and who takes part and when.",
    "These attacks are those that we know. An audit shows what can be done, and cannot show that nothing else can.",
  ];
  if (privacy === "open") {
    return ["Any neighbour of an open study can do what this table shows, without leaving a trace.", ...always];
  }
  if (privacy === "private") {
    return [
      "What many rows have in common can be learnt: that is what the study is for.",
      "Somebody with several rows is covered by as many times epsilon.",
      "Bounds, scales and typical rows of the study are known to all, so they must not come from the data.",
      ...always,
    ];
  }
  return [
    `Whoever knows ${minimum - 1} rows of a group of ${minimum} can compute the last one.`,
    "A group in which all rows are alike shows their common value.",
    "Where a group is divided, one of its rows lies on the border; in a study with one feature that is its value.",
    "This is not differential privacy: a membership guess may be better than chance.",
    ...always,
  ];
}
