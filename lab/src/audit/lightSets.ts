// An attacker who knows who was in every published group and combines their sums: which small sets of rows can be isolated.

/** Products of two numbers below it are exact. */
const PRIME = 67_108_859;

function inverse(x: number): number {
  let [result, base, power] = [1, x, PRIME - 2];
  for (; power > 0; power = Math.floor(power / 2)) {
    if (power % 2 === 1) result = (result * base) % PRIME;
    base = (base * base) % PRIME;
  }
  return result;
}

/**
 * How many sets of at most `size` rows (1 to 3) hold all rows of some combination of the groups' sums. Elimination modulo a
 * prime: a combination has its rows in a set if and only if the columns of a parity check are dependent there, and of that
 * three random combinations are enough.
 */
export function lightestSets(groups: readonly (readonly number[])[], size: 1 | 2 | 3): number {
  const rows = [...new Set(groups.flat())];
  const place = new Map(rows.map((row, at) => [row, at]));
  const basis = reduced(
    groups.map((group) => {
      const vector = new Float64Array(rows.length);
      for (const row of group) vector[place.get(row) as number] = 1;
      return vector;
    }),
  );
  const pivots = new Map(basis.map((vector, at) => [vector.findIndex((x) => x !== 0), at]));
  const free = rows.flatMap((_, at) => (pivots.has(at) ? [] : [at]));
  let state = 12345;
  const draw = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state % PRIME;
  };
  const random = free.map(() => [draw(), draw(), draw()]);
  const columns = rows.map((_, at) => {
    const own = pivots.get(at);
    if (own === undefined) return random[free.indexOf(at)];
    return [0, 1, 2].map((i) => {
      return free.reduce((sum, f, n) => (sum + (PRIME - basis[own][f]) * random[n][i]) % PRIME, 0);
    });
  });
  return dependentSets(columns, size);
}

/** The reduced row echelon form, modulo the prime. */
function reduced(vectors: Float64Array[]): Float64Array[] {
  const basis: Float64Array[] = [];
  const width = vectors[0]?.length ?? 0;
  let left = vectors;
  for (let column = 0; column < width && left.length > 0; column++) {
    const pivot = left.find((vector) => vector[column] !== 0);
    if (pivot === undefined) continue;
    left = left.filter((vector) => vector !== pivot);
    const scale = inverse(pivot[column]);
    for (let i = 0; i < width; i++) pivot[i] = (pivot[i] * scale) % PRIME;
    for (const other of [...left, ...basis]) {
      const times = other[column];
      if (times === 0) continue;
      for (let i = 0; i < width; i++) other[i] = (other[i] + (PRIME - times) * pivot[i]) % PRIME;
    }
    basis.push(pivot);
  }
  return basis;
}

function dependentSets(columns: readonly (readonly number[])[], size: 1 | 2 | 3): number {
  const cross = (a: readonly number[], b: readonly number[]) =>
    [0, 1, 2].map((i) => {
      const [j, k] = [(i + 1) % 3, (i + 2) % 3];
      return (((a[j] * b[k]) % PRIME) + PRIME - ((a[k] * b[j]) % PRIME)) % PRIME;
    });
  let found = 0;
  columns.forEach((a, i) => {
    if (a.every((x) => x === 0)) found++;
    for (let j = i + 1; size > 1 && j < columns.length; j++) {
      const plane = cross(a, columns[j]);
      if (plane.every((x) => x === 0)) found++;
      for (let k = j + 1; size > 2 && k < columns.length; k++) {
        const c = columns[k];
        if ((((plane[0] * c[0]) % PRIME) + ((plane[1] * c[1]) % PRIME) + ((plane[2] * c[2]) % PRIME)) % PRIME === 0)
          found++;
      }
    }
  });
  return found;
}
