// Which k are tried: on until the curve of gains is over, in wider steps where k is large, then closely around its top.

/** What the search needs to know of one k. */
export interface Tried {
  readonly k: number;
  /** What k clusters are worth. */
  readonly gain: number;
  /** The share of the points whose cluster is apart from every other. */
  readonly apart: number;
}

export interface SearchBounds {
  /** No larger k is tried. */
  readonly largest: number;
  /** As long as nothing has gained, the search goes on to this k. */
  readonly patience: number;
}

/**
 * Where this share of the points is in clusters that are apart from all others, and the gain is more than this, there is
 * structure; one pair that overlaps does not hide it. Noise may reach the share with three clusters, but not the gain.
 * Once there is structure, fewer clusters that are apart will do to find out how many there are.
 */
const STRUCTURE = { apart: 1 / 3, gain: 0.09 };
const FEWER_APART = 0.1;

/** Every k up to here is tried, then about every sixth part more. */
const EVERY = 10;
const STEP = 6;

/** All that were tried, by rising k. */
export function search<T extends Tried>(tryK: (k: number) => T, { largest, patience }: SearchBounds): T[] {
  const tried = new Map<number, T>();
  const attempt = (k: number) => tried.set(k, tryK(k));
  for (let k = 1; k <= largest; k = k < EVERY ? k + 1 : k + Math.max(1, Math.floor(k / STEP))) {
    attempt(k);
    const top = topOf([...tried.values()]).k;
    if (k >= Math.max(EVERY, top > 1 ? 2 * top : patience)) break;
  }
  for (;;) {
    const rising = [...tried.values()].sort((a, b) => a.k - b.k);
    const untried = topsOf(rising)
      .flatMap(({ k }) => between(rising, k, largest))
      .filter((k) => !tried.has(k));
    if (untried.length === 0) return rising;
    new Set(untried).forEach(attempt);
  }
}

/** Near the best of all, another top may turn out to be higher. */
const NEARLY = 0.9;

/** The chosen one, and the others that gain more than both beside them. */
function topsOf<T extends Tried>(rising: readonly T[]): T[] {
  const chosen = chosenOf(rising);
  if (chosen.k === 1) return [];
  const gainAt = (at: number) => rising[at]?.gain ?? Number.NEGATIVE_INFINITY;
  return rising.filter((one, at) => {
    const isTop = one.gain > gainAt(at - 1) && one.gain > gainAt(at + 1);
    return one === chosen || (isTop && one.gain > NEARLY * chosen.gain);
  });
}

/** From the one that was tried before k to the one after it. */
function between(rising: readonly Tried[], k: number, largest: number): number[] {
  const at = rising.findIndex((one) => one.k === k);
  const from = rising[at - 1]?.k ?? k;
  // Steps may have stopped short of the bound.
  const to = rising[at + 1]?.k ?? Math.min(largest, k + Math.floor(k / STEP));
  return Array.from({ length: to - from + 1 }, (_, x) => from + x);
}

/** Gains that differ by less are alike. */
const ALIKE = 0.002;

/** The largest gain of all, with as few clusters as give it. */
function topOf<T extends Tried>(curve: readonly T[]): T {
  return curve.reduce((best, one) => (one.gain > best.gain + ALIKE ? one : best));
}

/** The largest gain, if there is structure at any k; else the single cluster. */
export function chosenOf<T extends Tried>(curve: readonly T[]): T {
  return topOf(candidates(curve));
}

function candidates<T extends Tried>(curve: readonly T[]): T[] {
  const hasStructure = curve.some(({ k, gain, apart }) => k > 1 && apart >= STRUCTURE.apart && gain > STRUCTURE.gain);
  return curve.filter(({ k, apart }) => k === 1 || (hasStructure && apart >= FEWER_APART));
}

/** The next best; undefined if one k was tried. */
export function runnerUpOf<T extends Tried>(curve: readonly T[]): T | undefined {
  const others = curve.filter((one) => one !== chosenOf(curve));
  const structured = candidates(curve).filter((one) => one !== chosenOf(curve));
  if (others.length === 0) return undefined;
  return topOf(structured.length > 0 ? structured : others);
}

/** Whether the curve may go on rising beyond the largest k that was tried. */
export function isAtLimit(curve: readonly Tried[]): boolean {
  const last = curve[curve.length - 1];
  return last.k > 1 && (chosenOf(curve) === last || topOf(curve) === last);
}
