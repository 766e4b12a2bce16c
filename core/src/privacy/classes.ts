// Classes of rows: what nothing published so far divides, and the labels that may be published next.
// What is published of rows are sums over clusters, and every cluster is a union of classes. Each class has at least
// `minimum` own rows, which counted in nothing before it. So every combination of all sums ever published has at least so
// many rows: in the latest class that it holds, it is constant on the own rows, and these are in no earlier class.

import { randomStream, shuffled } from "../data/random.ts";

/** Which class each row is in, and how many rows each class has. Classes are numbered from 0, and none is empty. */
export interface Classes {
  readonly ids: Uint32Array;
  readonly sizes: Uint32Array;
  /** 1 for a row that counted in an earlier class, a guest; absent: all rows are own. Guests hide nobody. */
  readonly guests?: Uint8Array;
  /** 1 for a class that counts in no sum; absent: all count. */
  readonly left?: Uint8Array;
}

/**
 * Rows of which nothing was published yet.
 * @example oneClass(3).sizes // [3]
 */
export function oneClass(rows: number): Classes {
  return { ids: new Uint32Array(rows), sizes: Uint32Array.from(rows > 0 ? [rows] : []) };
}

/** How many own rows each class has. */
function ownRows({ ids, sizes, guests }: Classes): Uint32Array {
  const own = sizes.slice();
  guests?.forEach((is, r) => {
    own[ids[r]] -= is;
  });
  return own;
}

/**
 * Makes labels below `k` such that they may be published. A class is divided only into parts of at least `minimum` own
 * rows: smaller ones get the label of the largest part, the lowest among equals. A class that is not divided gets one label as
 * a whole, that in `whole`, by default the one that most of its rows have. Returns how many rows got another label.
 * @example mergeSmallParts(oneClass(5), Uint32Array.of(0, 0, 0, 0, 1), 2, 2) // 1
 */
export function mergeSmallParts(
  classes: Classes,
  /* IN OUT */ labels: Uint32Array,
  k: number,
  minimum: number,
  whole?: ArrayLike<number>,
): number {
  const { ids, sizes } = classes;
  const parts = ownParts(classes, labels, k);
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
  classes: Classes,
  /* IN OUT */ labels: Uint32Array,
  k: number,
  minimum: number,
  whole: ArrayLike<number>,
): number {
  const { ids, sizes, left } = classes;
  const parts = ownParts(classes, labels, k);
  const all = ownRows(classes);
  /** What the rows of a part that is too small get, and whether larger parts keep what they have. */
  const given = new Uint32Array(sizes.length);
  const isDivided = new Uint8Array(sizes.length);
  /** How many rows of larger parts are left out with them. */
  const company = new Uint32Array(sizes.length);
  for (let id = 0; id < sizes.length; id++) {
    const own = parts.subarray(id * k, (id + 1) * k);
    const large = own.filter((size) => size >= minimum);
    const rest = all[id] - large.reduce((sum, size) => sum + size, 0);
    const isEnough = rest > 0 && all[id] >= (large.length + 1) * minimum;
    const isWorth = large.length > 1 || (large.length === 1 && isEnough && 2 * rest >= minimum);
    isDivided[id] = isWorth ? 1 : 0;
    if (isDivided[id] === 1) given[id] = isEnough ? k : own.indexOf(Math.max(...own));
    else given[id] = large.length === 0 && left?.[id] === 1 ? k : whole[id];
    if (isDivided[id] === 1 && isEnough) company[id] = Math.max(0, minimum - rest);
  }
  const isKept = (id: number, label: number) => isDivided[id] === 1 && parts[id * k + label] >= minimum;
  return relabel(ids, labels, given, isKept) + keepCompany(classes, labels, parts, { k, minimum, company });
}

/** Leaves out `company` own rows of each class, by chance, from parts that can spare them. Returns how many in all. */
function keepCompany(
  { ids, guests }: Classes,
  /* IN OUT */ labels: Uint32Array,
  /* IN OUT */ parts: Uint32Array,
  { k, minimum, company }: { readonly k: number; readonly minimum: number; readonly company: Uint32Array },
): number {
  const wanted = company.reduce((sum, rows) => sum + rows, 0);
  if (wanted === 0) return 0;
  for (const r of shuffled(labels.length, randomStream(labels.length, "company"))) {
    const part = ids[r] * k + labels[r];
    if (labels[r] === k || guests?.[r] === 1 || company[ids[r]] === 0 || parts[part] <= minimum) continue;
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
export function leftClasses(classes: Classes, labels: Uint32Array, k: number): Classes {
  const left = new Uint8Array(classes.sizes.length);
  labels.forEach((label, r) => {
    left[classes.ids[r]] = label === k ? 1 : 0;
  });
  return { ...classes, left };
}

/**
 * The classes after labels below `k` were published; the same object where they split none.
 * @example splitClasses(oneClass(5), Uint32Array.of(0, 0, 0, 1, 1), 2).sizes // [3, 2]
 */
export function splitClasses(classes: Classes, labels: Uint32Array, k: number): Classes {
  const { ids, sizes, guests } = classes;
  const parts = new Uint32Array(sizes.length * k);
  for (let r = 0; r < ids.length; r++) parts[ids[r] * k + labels[r]]++;
  const numbers = new Uint32Array(parts.length);
  const found: number[] = [];
  for (let part = 0; part < parts.length; part++) {
    if (parts[part] === 0) continue;
    numbers[part] = found.length;
    found.push(parts[part]);
  }
  if (found.length === sizes.length) return classes;
  const split = { ids: ids.map((id, r) => numbers[id * k + labels[r]]), sizes: Uint32Array.from(found) };
  return guests === undefined ? split : { ...split, guests };
}

/** How many own rows of each class have each label. */
function ownParts({ ids, sizes, guests }: Classes, labels: Uint32Array, k: number): Uint32Array {
  const parts = new Uint32Array(sizes.length * k);
  for (let r = 0; r < ids.length; r++) if (guests?.[r] !== 1) parts[ids[r] * k + labels[r]]++;
  return parts;
}

/**
 * The fewest own rows of a class; 0 where there is none.
 * @example smallestClass(oneClass(3)) // 3
 */
export function smallestClass(classes: Classes): number {
  const own = ownRows(classes);
  return own.reduce((least, size) => Math.min(least, size), own[0] ?? 0);
}
