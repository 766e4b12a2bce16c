// Signature classes: rows that nothing published so far tells apart, and the labels that may be published next.
// What is published of rows are sums over clusters. If every cluster that was ever published is a union of classes,
// every linear combination of all these sums is one of sums over classes, and isolates no fewer rows than a class has.

/** Which class each row is in, and how many rows each class has. Classes are numbered from 0, and none is empty. */
export interface Classes {
  readonly ids: Uint32Array;
  readonly sizes: Uint32Array;
}

/** Rows of which nothing was published yet. */
export function oneClass(rows: number): Classes {
  return { ids: new Uint32Array(rows), sizes: Uint32Array.from(rows > 0 ? [rows] : []) };
}

/**
 * Makes labels below `k` such that they may be published. A class is divided only into parts of at least `minimum` rows:
 * smaller ones get the label of the largest part, the lowest among equals. A class that is not divided gets one label as
 * a whole, that in `whole`, by default the one that most of its rows have. Returns how many rows got another label.
 */
export function holdBack(
  { ids, sizes }: Classes,
  /* IN OUT */ labels: Uint32Array,
  k: number,
  minimum: number,
  whole?: ArrayLike<number>,
): number {
  const parts = partsOf(ids, sizes.length, labels, k);
  const given = new Uint32Array(sizes.length);
  const isDivided = new Uint8Array(sizes.length);
  for (let id = 0; id < sizes.length; id++) {
    let best = 0;
    let enough = 0;
    for (let label = 0; label < k; label++) {
      const size = parts[id * k + label];
      if (size > parts[id * k + best]) best = label;
      if (size >= minimum) enough++;
    }
    isDivided[id] = enough > 1 ? 1 : 0;
    given[id] = enough > 1 ? best : (whole?.[id] ?? best);
  }
  let held = 0;
  for (let r = 0; r < labels.length; r++) {
    const id = ids[r];
    if (labels[r] === given[id] || (isDivided[id] === 1 && parts[id * k + labels[r]] >= minimum)) continue;
    labels[r] = given[id];
    held++;
  }
  return held;
}

/** The classes after labels below `k` were published; the same object where they split none. */
export function splitClasses(classes: Classes, labels: Uint32Array, k: number): Classes {
  const { ids, sizes } = classes;
  const parts = partsOf(ids, sizes.length, labels, k);
  const numbers = new Uint32Array(parts.length);
  const found: number[] = [];
  for (let part = 0; part < parts.length; part++) {
    if (parts[part] === 0) continue;
    numbers[part] = found.length;
    found.push(parts[part]);
  }
  if (found.length === sizes.length) return classes;
  return { ids: ids.map((id, r) => numbers[id * k + labels[r]]), sizes: Uint32Array.from(found) };
}

/** How many rows of each class have each label. */
function partsOf(ids: Uint32Array, classes: number, labels: Uint32Array, k: number): Uint32Array {
  const parts = new Uint32Array(classes * k);
  for (let r = 0; r < ids.length; r++) parts[ids[r] * k + labels[r]]++;
  return parts;
}

/** Rows of the smallest class; 0 where there is none. */
export function smallestClass({ sizes }: Classes): number {
  return sizes.reduce((least, size) => Math.min(least, size), sizes[0] ?? 0);
}
