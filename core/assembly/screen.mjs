// Writes the AssemblyScript of the int16 screen: centroids are scored four side by side, and what is left of them at last.

/** Eight points times four centroids are eight accumulators, two points and four broadcasts: V8 has 15 registers for them. */
const BLOCK = 4;
/** What fewer than four centroids are scored in. */
const LAST_BLOCKS = [2, 1];

/** The text of assembly/screen.ts, which exists only while asc runs. */
export function screenSource() {
  return `
/**
 * Scores of the 8 points of a tile against all centroids: start + dot of the codes, the low bits replaced by the index
 * of the centroid, so that a maximum carries its index along. All scores are stored, then, where is returned, the best
 * and the second best of every point.
 */
export function score(tile: usize, codes: usize, starts: usize, k: i32, pairs: i32, mask: i32, scores: usize): usize {
  const verdict = scores + (<usize>k << 5);
  const lowest = i32x4.splat(i32.MIN_VALUE);
  v128.store(verdict, lowest);
  v128.store(verdict, lowest, 16);
  v128.store(verdict, lowest, 32);
  v128.store(verdict, lowest, 48);
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
${[BLOCK, ...LAST_BLOCKS].map(scoreSource).join("")}`;
}

/** The centroids from \`first\` to \`end\`, so many at a time. The loop over the columns is not unrolled: V8 would spill. */
function scoreSource(size) {
  const each = (text) => Array.from({ length: size }, (_, c) => text(c)).join("\n    ");
  const keep = (c, lane, at) => `
    ${lane}${c} = v128.or(v128.and(${lane}${c}, keep), index);
    v128.store(scores, ${lane}${c}, ${c * 32 + at});
    second${lane} = i32x4.max_s(second${lane}, i32x4.min_s(best${lane}, ${lane}${c}));
    best${lane} = i32x4.max_s(best${lane}, ${lane}${c});`;
  return `
function score${size}(tile: usize, codes: usize, starts: usize, first: i32, end: i32, pairs: i32, mask: i32, scores: usize, verdict: usize): void {
  const keep = i32x4.splat(~mask);
  let besta = v128.load(verdict);
  let bestb = v128.load(verdict, 16);
  let seconda = v128.load(verdict, 32);
  let secondb = v128.load(verdict, 48);
  let index = i32x4.splat(first);
  const one = i32x4.splat(1);
  const last = tile + (<usize>pairs << 5);
  for (let c = first; c < end; c += ${size}) {
    ${each((c) => `let a${c} = v128.load32_splat(starts, ${4 * c}); let b${c} = a${c};`)}
    for (let at = tile; at < last; at += 32) {
      const xa = v128.load(at);
      const xb = v128.load(at, 16);
      ${each(
        (c) => `const c${c} = v128.load32_splat(codes, ${4 * c});
      a${c} = i32x4.add(a${c}, i32x4.dot_i16x8_s(xa, c${c}));
      b${c} = i32x4.add(b${c}, i32x4.dot_i16x8_s(xb, c${c}));`,
      )}
      codes += ${4 * size};
    }
    ${each(
      (c) => `${keep(c, "a", 0)}${keep(c, "b", 16)}
    index = i32x4.add(index, one);`,
    )}
    starts += ${4 * size};
    scores += ${32 * size};
  }
  v128.store(verdict, besta);
  v128.store(verdict, bestb, 16);
  v128.store(verdict, seconda, 32);
  v128.store(verdict, secondb, 48);
}
`;
}
