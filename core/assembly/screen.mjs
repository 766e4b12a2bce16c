// Writes the AssemblyScript of the int16 screen: centroids are scored four side by side, and what is left of them at last.

/** Eight points times four centroids are eight accumulators, two points and four broadcasts: V8 has 15 registers for them. */
const BLOCK = 4;
/** What fewer than four centroids are scored in. */
const LAST_BLOCKS = [2, 1];
const BLOCKS = [BLOCK, ...LAST_BLOCKS];
/** Pairs of columns of a tile that are scored against all centroids before the next come from memory, if it has many. */
const STRIP = 128;
const MANY_PAIRS = 192;

/** The text of assembly/screen.ts, which exists only while asc runs. */
export function screenSource() {
  return `
/**
 * Scores of the 8 points of a tile against all centroids: start + dot of the codes, the low bits replaced by the index
 * of the centroid, so that a maximum carries its index along. All scores are stored, then, where is returned, the best
 * and the second best of every point.
 */
export function score(tile: usize, codes: usize, starts: usize, k: i32, pairs: i32, mask: i32, scores: usize): usize {
  const verdict = scores + (<usize>((k + 7) & ~7) << 5);
  const lowest = i32x4.splat(i32.MIN_VALUE);
  v128.store(verdict, lowest);
  v128.store(verdict, lowest, 16);
  v128.store(verdict, lowest, 32);
  v128.store(verdict, lowest, 48);
  if (pairs > ${MANY_PAIRS}) {
    scoreWide(tile, codes, starts, k, pairs, scores);
    rank(k, mask, scores, verdict);
    return verdict;
  }
  const whole = k & ~${BLOCK - 1};
  if (whole) score${BLOCK}(tile, codes, starts, 0, whole, pairs, mask, scores, verdict);
  let done = whole;
  ${LAST_BLOCKS.map(
    (size) => `if (k & ${size}) {
    score${size}(tile, codes + (<usize>(done * pairs) << 2), starts + (<usize>done << 2), done, done + ${size}, pairs, mask, scores + (<usize>done << 5), verdict);
    done += ${size};
  }`,
  ).join("\n  ")}
  return verdict;
}

/** The same for a tile of many columns, strip by strip, so that memory is read evenly. The low bits are left alone. */
function scoreWide(tile: usize, codes: usize, starts: usize, k: i32, pairs: i32, scores: usize): void {
  for (let c: usize = 0; c < <usize>k; c++) {
    const start = v128.load32_splat(starts + (c << 2));
    v128.store(scores + (c << 5), start);
    v128.store(scores + (c << 5), start, 16);
  }
  const strips = (pairs + ${STRIP - 1}) / ${STRIP};
  const length = (pairs + strips - 1) / strips;
  const whole = k & ~${BLOCK - 1};
  for (let from = 0; from < pairs; from += length) {
    const first = tile + (<usize>from << 5);
    const last = tile + (<usize>min(pairs, from + length) << 5);
    for (let c = 0; c < whole; c += ${BLOCK}) {
      addStrip${BLOCK}(first, last, codes + (<usize>(c * pairs + ${BLOCK} * from) << 2), scores + (<usize>c << 5));
    }
    let done = whole;
    ${LAST_BLOCKS.map(
      (size) => `if (k & ${size}) {
      addStrip${size}(first, last, codes + (<usize>(done * pairs + ${size} * from) << 2), scores + (<usize>done << 5));
      done += ${size};
    }`,
    ).join("\n    ")}
  }
}

/** Puts the indices into finished scores and finds the best and the second best. */
function rank(k: i32, mask: i32, scores: usize, verdict: usize): void {
  const keep = i32x4.splat(~mask);
  ${LOAD_VERDICT}
  let index = i32x4.splat(0);
  const one = i32x4.splat(1);
  for (let c = 0; c < k; c++) {
    let a0 = v128.load(scores);
    let b0 = v128.load(scores, 16);
    ${keep(0)}
    scores += 32;
  }
  ${STORE_VERDICT}
}
${BLOCKS.map(scoreSource).join("")}${BLOCKS.map(stripSource).join("")}`;
}

const LOAD_VERDICT = `let besta = v128.load(verdict);
  let bestb = v128.load(verdict, 16);
  let seconda = v128.load(verdict, 32);
  let secondb = v128.load(verdict, 48);`;
const STORE_VERDICT = `v128.store(verdict, besta);
  v128.store(verdict, bestb, 16);
  v128.store(verdict, seconda, 32);
  v128.store(verdict, secondb, 48);`;

/** Stores the scores of a centroid and keeps the best and second best. */
function keep(c) {
  const half = (lane, at) => `
    ${lane}${c} = v128.or(v128.and(${lane}${c}, keep), index);
    v128.store(scores, ${lane}${c}, ${c * 32 + at});
    second${lane} = i32x4.max_s(second${lane}, i32x4.min_s(best${lane}, ${lane}${c}));
    best${lane} = i32x4.max_s(best${lane}, ${lane}${c});`;
  return `${half("a", 0)}${half("b", 16)}
    index = i32x4.add(index, one);`;
}

/** Adds the products of the pairs from \`at\` to \`last\`. The loop over them is not unrolled: V8 would spill. */
function products(size, tile) {
  return `for (let at = ${tile}; at < last; at += 32) {
      const xa = v128.load(at);
      const xb = v128.load(at, 16);
      ${each(
        size,
        (c) => `const c${c} = v128.load32_splat(codes, ${4 * c});
      a${c} = i32x4.add(a${c}, i32x4.dot_i16x8_s(xa, c${c}));
      b${c} = i32x4.add(b${c}, i32x4.dot_i16x8_s(xb, c${c}));`,
      )}
      codes += ${4 * size};
    }`;
}

function each(size, text) {
  return Array.from({ length: size }, (_, c) => text(c)).join("\n    ");
}

/** The centroids from \`first\` to \`end\`, so many at a time, all columns at once. */
function scoreSource(size) {
  return `
function score${size}(tile: usize, codes: usize, starts: usize, first: i32, end: i32, pairs: i32, mask: i32, scores: usize, verdict: usize): void {
  const keep = i32x4.splat(~mask);
  ${LOAD_VERDICT}
  let index = i32x4.splat(first);
  const one = i32x4.splat(1);
  const last = tile + (<usize>pairs << 5);
  for (let c = first; c < end; c += ${size}) {
    ${each(size, (c) => `let a${c} = v128.load32_splat(starts, ${4 * c}); let b${c} = a${c};`)}
    ${products(size, "tile")}
    ${each(size, keep)}
    starts += ${4 * size};
    scores += ${32 * size};
  }
  ${STORE_VERDICT}
}
`;
}

/** So many centroids, the columns of one strip. */
function stripSource(size) {
  return `
function addStrip${size}(first: usize, last: usize, codes: usize, scores: usize): void {
  ${each(size, (c) => `let a${c} = v128.load(scores, ${32 * c}); let b${c} = v128.load(scores, ${32 * c + 16});`)}
  ${products(size, "first")}
  ${each(size, (c) => `v128.store(scores, a${c}, ${32 * c}); v128.store(scores, b${c}, ${32 * c + 16});`)}
}
`;
}
