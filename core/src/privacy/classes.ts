// Signature classes: rows that nothing published so far tells apart, and the labels that may be published next.
// What is published of rows are sums over clusters. If every cluster that was ever published is a union of classes,
// every linear combination of all these sums is one of sums over classes, and isolates no fewer rows than a class has.

import { randomStream, shuffled } from "../data/random.ts";

/** Which class each row is in, and how many rows each class has. Classes are numbered from 0, and none is empty. */
export interface Classes {
  readonly ids: Uint32Array;
  readonly sizes: Uint32Array;
  /** 1 for a class that counts in no sum; absent: all count. */
  readonly left?: Uint8Array;
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
export function mergeSmallParts(
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
  return relabel(ids, labels, given, (id, label) => isDivided[id] === 1 && parts[id * k + label] >= minimum);
}

/**
 * The same where rows may be left out, which the label `k` says. Where a class is divided, its smaller parts together are
 * left out: rows of clusters that a device has few of would else count far from where they are. Where these are too few
 * to hide in, rows of the larger parts are left out with them, by chance, so that nothing is known of them either; a class
 * with one larger part is divided for them if they are no fewer than those. Such a class stays left out until it can be
 * divided, or as good as all of it has one label. Only that changes what counts, once for each class: one that came and
 * went with a border would show which row is on it.
 */
export function leaveOutSmallParts(
  { ids, sizes, left }: Classes,
  /* IN OUT */ labels: Uint32Array,
  k: number,
  minimum: number,
  whole: ArrayLike<number>,
): number {
  const parts = partsOf(ids, sizes.length, labels, k);
  /** What the rows of a part that is too small get, and whether larger parts keep what they have. */
  const given = new Uint32Array(sizes.length);
  const isDivided = new Uint8Array(sizes.length);
  /** How many rows of larger parts are left out with them. */
  const company = new Uint32Array(sizes.length);
  for (let id = 0; id < sizes.length; id++) {
    const own = parts.subarray(id * k, (id + 1) * k);
    const large = own.filter((size) => size >= minimum);
    const rest = sizes[id] - large.reduce((sum, size) => sum + size, 0);
    const isEnough = rest > 0 && sizes[id] >= (large.length + 1) * minimum;
    const isWorth = large.length > 1 || (large.length === 1 && isEnough && 2 * rest >= minimum);
    isDivided[id] = isWorth ? 1 : 0;
    if (isDivided[id] === 1) given[id] = isEnough ? k : own.indexOf(Math.max(...own));
    else given[id] = large.length === 0 && left?.[id] === 1 ? k : whole[id];
    if (isDivided[id] === 1 && isEnough) company[id] = Math.max(0, minimum - rest);
  }
  const isKept = (id: number, label: number) => isDivided[id] === 1 && parts[id * k + label] >= minimum;
  return relabel(ids, labels, given, isKept) + keepCompany(ids, labels, parts, { k, minimum, company });
}

/** Leaves out `company` rows of each class, by chance, from parts that can spare them. Returns how many in all. */
function keepCompany(
  ids: Uint32Array,
  /* IN OUT */ labels: Uint32Array,
  /* IN OUT */ parts: Uint32Array,
  { k, minimum, company }: { readonly k: number; readonly minimum: number; readonly company: Uint32Array },
): number {
  const wanted = company.reduce((sum, rows) => sum + rows, 0);
  if (wanted === 0) return 0;
  for (const r of shuffled(labels.length, randomStream(labels.length, "company"))) {
    const part = ids[r] * k + labels[r];
    if (labels[r] === k || company[ids[r]] === 0 || parts[part] <= minimum) continue;
    labels[r] = k;
    parts[part]--;
    company[ids[r]]--;
  }
  return wanted;
}

/** Gives the rows of every class what `given` says, but those that keep their label. Returns how many got another. */
function relabel(
  ids: Uint32Array,
  /* IN OUT */ labels: Uint32Array,
  given: Uint32Array,
  isKept: (id: number, label: number) => boolean,
): number {
  let held = 0;
  for (let r = 0; r < labels.length; r++) {
    const id = ids[r];
    if (labels[r] === given[id] || isKept(id, labels[r])) continue;
    labels[r] = given[id];
    held++;
  }
  return held;
}

/** Which classes are left out, where rows with the label `k` are. */
export function leftClasses({ ids, sizes }: Classes, labels: Uint32Array, k: number): Classes {
  const left = new Uint8Array(sizes.length);
  labels.forEach((label, r) => {
    left[ids[r]] = label === k ? 1 : 0;
  });
  return { ids, sizes, left };
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
