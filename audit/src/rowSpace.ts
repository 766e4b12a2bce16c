// The strongest linear attacker: it knows who was in every published group, and adds and subtracts their sums at will.

/** A published group: the numbers of the rows in it. */
export type PublishedGroup = readonly number[];

export interface Isolation {
  /** Rows that some combination of the published sums gives exactly. */
  readonly rows: readonly number[];
  /** Rows that no published group tells apart; no combination gives fewer than the smallest of these classes. */
  readonly smallestClass: number;
}

/** A row is found where its share of the space that the sums span is the whole of it. */
const WHOLE = 1 - 1e-9;

export function isolatedRows(groups: readonly PublishedGroup[]): Isolation {
  const classes = classesTold(groups);
  if (classes.length === 0) return { rows: [], smallestClass: Number.POSITIVE_INFINITY };
  const place = new Map(classes.flatMap((rows, c) => rows.map((row) => [row, c] as const)));
  const vectors = new Map<string, Float64Array>();
  for (const group of groups) {
    const vector = new Float64Array(classes.length);
    for (const row of group) vector[place.get(row) as number] = 1;
    vectors.set(vector.join(""), vector);
  }
  const found = spannedUnits([...vectors.values()], classes.length);
  return {
    rows: found.flatMap((c) => (classes[c].length === 1 ? classes[c] : [])),
    smallestClass: Math.min(...classes.map(({ length }) => length)),
  };
}

/** Rows that were in the same groups all along. */
function classesTold(groups: readonly PublishedGroup[]): number[][] {
  const histories = new Map<number, string>();
  groups.forEach((group, g) => {
    for (const row of group) histories.set(row, `${histories.get(row) ?? ""} ${g}`);
  });
  const classes = new Map<string, number[]>();
  for (const [row, history] of histories) {
    const known = classes.get(history);
    if (known === undefined) classes.set(history, [row]);
    else known.push(row);
  }
  return [...classes.values()];
}

/** Which unit vectors are combinations of the vectors. */
function spannedUnits(vectors: readonly Float64Array[], size: number): number[] {
  const basis: Float64Array[] = [];
  for (const vector of vectors) {
    if (basis.length === size) break;
    const rest = vector.slice();
    // Twice, because the first time leaves rounding behind.
    for (let time = 0; time < 2; time++) for (const known of basis) subtract(rest, known, dot(rest, known));
    const length = Math.hypot(...rest);
    if (length > 1e-6) basis.push(rest.map((x) => x / length));
  }
  return Array.from({ length: size }, (_, c) => c).filter(
    (c) => basis.reduce((sum, known) => sum + known[c] ** 2, 0) >= WHOLE,
  );
}

function subtract(/* IN OUT */ from: Float64Array, vector: Float64Array, times: number): void {
  for (let i = 0; i < from.length; i++) from[i] -= times * vector[i];
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}
