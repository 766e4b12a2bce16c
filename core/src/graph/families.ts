// The usual families of graphs: complete, path, ring, star, grid, and those that are drawn.

import { checkArray, checkInteger, checkNumber, checkRandom } from "../data/check.ts";
import { ln } from "../data/elementary.ts";
import type { Random } from "../data/random.ts";
import { type Edge, type Graph, graphOfEdges } from "./graph.ts";

/**
 * Every device is linked with every other.
 * @example [...edges(complete(3))] // [[0, 1, 1], [0, 2, 1], [1, 2, 1]]
 */
export function complete(size: number): Graph {
  checkInteger("size", size, 1);
  return graphOfEdges(size, allPairs(size));
}

/**
 * Devices in a row, each linked with the next.
 * @example [...edges(path(3))] // [[0, 1, 1], [1, 2, 1]]
 */
export function path(size: number): Graph {
  checkInteger("size", size, 1);
  return graphOfEdges(size, chain(size, size - 1));
}

/**
 * A path whose ends are linked too.
 * @example [...edges(ring(3))] // [[0, 1, 1], [0, 2, 1], [1, 2, 1]]
 */
export function ring(size: number): Graph {
  checkInteger("size", size, 1);
  // Two devices have one link, not two.
  return graphOfEdges(size, chain(size, size <= 2 ? size - 1 : size));
}

/**
 * Device 0 in the middle.
 * @example [...edges(star(3))] // [[0, 1, 1], [0, 2, 1]]
 */
export function star(size: number): Graph {
  checkInteger("size", size, 1);
  const spokes = Array.from({ length: size - 1 }, (_, i) => [0, i + 1] as const);
  return graphOfEdges(size, spokes);
}

/**
 * A rectangle of devices, each linked to those left, right, above and below.
 * @example [...edges(grid(2, 2))] // [[0, 1, 1], [0, 2, 1], [1, 3, 1], [2, 3, 1]]
 */
export function grid(rows: number, columns: number): Graph {
  checkInteger("rows", rows, 1);
  checkInteger("columns", columns, 1);
  const links: Edge[] = [];
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) {
      const at = r * columns + c;
      if (c + 1 < columns) links.push([at, at + 1]);
      if (r + 1 < rows) links.push([at, at + columns]);
    }
  }
  return graphOfEdges(rows * columns, links);
}

/**
 * G(n, p): every pair is linked with probability p. Time and memory grow with the edges, not with the pairs.
 * @example [...edges(erdosRenyi(10, 0.7, randomStream(1, "graph")))].length // 33
 */
export function erdosRenyi(size: number, probability: number, random: Random): Graph {
  checkInteger("size", size, 1);
  checkProbability("probability", probability);
  checkRandom(random);
  return graphOfEdges(size, sampledPairs(size, probability, random));
}

/**
 * Watts and Strogatz: a ring with links to the `degree` nearest, of which each is moved with probability `rewire`.
 * @example [...edges(smallWorld(10, 4, 0.1, randomStream(1, "graph")))].length // 20
 */
export function smallWorld(size: number, degree: number, rewire: number, random: Random): Graph {
  checkInteger("size", size, 1);
  checkInteger("degree", degree, 0, size - 1, "size - 1");
  if (degree % 2 !== 0) throw new RangeError(`degree must be even, got ${degree}`);
  checkProbability("rewire", rewire);
  checkRandom(random);
  const linked = Array.from({ length: size }, () => new Set<number>());
  const link = (i: number, j: number) => linked[i].add(j) && linked[j].add(i);
  for (let step = 1; step <= degree / 2; step++) for (let i = 0; i < size; i++) link(i, (i + step) % size);
  for (let step = 1; step <= degree / 2; step++) {
    for (let i = 0; i < size; i++) {
      // A device linked to all others has nowhere to move a link to.
      if (random() >= rewire || linked[i].size >= size - 1) continue;
      const old = (i + step) % size;
      let target = i;
      while (target === i || linked[i].has(target)) target = Math.floor(random() * size);
      linked[i].delete(old);
      linked[old].delete(i);
      link(i, target);
    }
  }
  const links = linked.flatMap((others, i) => Array.from(others, (j) => [i, j] as const).filter(([, j]) => i < j));
  return graphOfEdges(size, links);
}

/**
 * Devices at random positions in the unit square, linked when at most `radius` apart.
 * @example [...edges(geometric(10, 0.5, randomStream(1, "graph")))].length // 23
 */
export function geometric(size: number, radius: number, random: Random): Graph {
  checkInteger("size", size, 1);
  checkNumber("radius", radius, (value) => value > 0, "a finite number above 0");
  checkRandom(random);
  const x = Float64Array.from({ length: size }, random);
  const y = Float64Array.from({ length: size }, random);
  // Cells as wide as the radius, and no more of them than devices: partners are at most one cell away.
  const side = Math.max(1, Math.min(Math.floor(1 / radius), Math.floor(Math.sqrt(size))));
  const cells = Array.from({ length: side * side }, (): number[] => []);
  const links: Edge[] = [];
  for (let i = 0; i < size; i++) {
    const column = Math.floor(x[i] * side);
    const row = Math.floor(y[i] * side);
    for (let r = Math.max(0, row - 1); r <= Math.min(side - 1, row + 1); r++) {
      for (let c = Math.max(0, column - 1); c <= Math.min(side - 1, column + 1); c++) {
        for (const j of cells[r * side + c]) {
          const dx = x[i] - x[j];
          const dy = y[i] - y[j];
          if (dx * dx + dy * dy <= radius * radius) links.push([j, i]);
        }
      }
    }
    cells[row * side + column].push(i);
  }
  return graphOfEdges(size, links);
}

/**
 * The block model: devices of one community are linked with probability `inside`, others with `between`.
 * @example [...edges(communities([3, 3], 0.9, 0.1, randomStream(1, "graph")))].length // 8
 */
export function communities(sizes: readonly number[], inside: number, between: number, random: Random): Graph {
  checkArray("sizes", sizes, "numbers, one for each community");
  if (sizes.length === 0) throw new RangeError("sizes needs at least one community");
  for (const [c, size] of sizes.entries()) checkInteger(`sizes[${c}]`, size, 1);
  checkProbability("inside", inside);
  checkProbability("between", between);
  checkRandom(random);
  const size = sizes.reduce((sum, own) => sum + own, 0);
  return graphOfEdges(size, communityLinks(sizes, size, inside, between, random));
}

/** Up to so many communities every pair of them is drawn for; beyond, that would cost more than the links. */
const PAIRED_COMMUNITIES = 1000;

function* communityLinks(
  sizes: readonly number[],
  size: number,
  inside: number,
  between: number,
  random: Random,
): Generator<Edge> {
  const isPaired = sizes.length <= PAIRED_COMMUNITIES;
  for (let c = 0, first = 0; c < sizes.length; first += sizes[c++]) {
    for (const [i, j] of sampledPairs(sizes[c], inside, random)) yield [first + i, first + j];
    // Devices of the communities behind this one, taken one community at a time or all at once.
    for (let start = first + sizes[c], other = c + 1; start < size; ) {
      const behind = isPaired ? sizes[other++] : size - start;
      for (const at of sampled(sizes[c] * behind, between, random)) {
        yield [first + Math.floor(at / behind), start + (at % behind)];
      }
      start += behind;
    }
  }
}

function checkProbability(name: string, value: number): void {
  checkNumber(name, value, (number) => number >= 0 && number <= 1, "a number from 0 to 1");
}

/** Device i is linked to i + 1, and the last to the first if there are as many links as devices. */
function* chain(size: number, links: number): Generator<Edge> {
  for (let i = 0; i < links; i++) yield [i, (i + 1) % size];
}

function* allPairs(size: number): Generator<readonly [number, number]> {
  for (let i = 0; i < size; i++) for (let j = i + 1; j < size; j++) yield [i, j];
}

function* sampledPairs(size: number, probability: number, random: Random): Generator<readonly [number, number]> {
  let i = 0;
  let rowEnd = size - 1;
  let rowStart = 0;
  // Pairs in the order (0,1) (0,2) ... (1,2) ...: row i ends before position rowEnd.
  for (const at of sampled((size * (size - 1)) / 2, probability, random)) {
    while (at >= rowEnd) {
      i++;
      rowStart = rowEnd;
      rowEnd += size - 1 - i;
    }
    yield [i, i + 1 + at - rowStart];
  }
}

/** Positions 0 to count - 1, each kept with the probability, by drawing the gaps between kept ones. */
function* sampled(count: number, probability: number, random: Random): Generator<number> {
  // Also where it is too small to be told from 0 below.
  if (1 - probability === 1) return;
  const perGap = probability === 1 ? 0 : 1 / ln(1 - probability);
  for (let at = -1; ; ) {
    at += 1 + Math.floor(ln(1 - random()) * perGap);
    if (at >= count) return;
    yield at;
  }
}
