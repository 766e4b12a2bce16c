// Writes the AssemblyScript of the int16 screen: one kernel per number of centroids that are scored side by side.

/** Centroids per block. Eight points times five centroids are ten accumulators, two points and a broadcast: 16 registers. */
export const BLOCK_SIZES = [4, 5];

/** The text of assembly/screen.ts, which exists only while asc runs. */
export function screenSource() {
  return `
/** The kernel for blocks of a given size. */
export function score(size: i32, tile: usize, codes: usize, starts: usize, blocks: i32, pairs: i32, mask: i32, scores: usize): void {
  ${BLOCK_SIZES.map((size) => `if (size == ${size}) score${size}(tile, codes, starts, blocks, pairs, mask, scores);`).join("\n  else ")}
}
${BLOCK_SIZES.map(scoreSource).join("")}`;
}

/**
 * Scores of the 8 points of a tile against all centroids: start + dot of the codes, the low bits replaced by the index
 * of the centroid, so that a maximum carries its index along. All scores are stored, then the best and the second best
 * of every point. The loop over the columns is not unrolled: V8 would spill.
 */
function scoreSource(size) {
  const each = (text) => Array.from({ length: size }, (_, c) => text(c)).join("\n    ");
  const keep = (c, lane, at) => `
    ${lane}${c} = v128.or(v128.and(${lane}${c}, keep), index);
    v128.store(scores, ${lane}${c}, ${c * 32 + at});
    second${lane} = i32x4.max_s(second${lane}, i32x4.min_s(best${lane}, ${lane}${c}));
    best${lane} = i32x4.max_s(best${lane}, ${lane}${c});`;
  return `
function score${size}(tile: usize, codes: usize, starts: usize, blocks: i32, pairs: i32, mask: i32, scores: usize): void {
  const keep = i32x4.splat(~mask);
  let besta = i32x4.splat(i32.MIN_VALUE);
  let bestb = besta;
  let seconda = besta;
  let secondb = besta;
  let index = i32x4.splat(0);
  const one = i32x4.splat(1);
  const end = tile + (<usize>pairs << 5);
  for (let block = 0; block < blocks; block++) {
    ${each((c) => `let a${c} = v128.load32_splat(starts, ${4 * c}); let b${c} = a${c};`)}
    for (let at = tile; at < end; at += 32) {
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
  v128.store(scores, besta);
  v128.store(scores, bestb, 16);
  v128.store(scores, seconda, 32);
  v128.store(scores, secondb, 48);
}
`;
}
