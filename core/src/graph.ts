// The communication network: an undirected, weighted graph as adjacency lists, and the usual families of graphs.

import { checkArray, checkGraph, checkInteger, checkNumber, checkRandom } from "./check.ts";
import { ln } from "./elementary.ts";
import { isList, show } from "./given.ts";
import type { Random } from "./random.ts";

export interface Graph {
  readonly size: number;
  /** neighbours[i] lists N(i) in rising order; weights[i] holds A(i, j) in the same order. */
  readonly neighbours: readonly Uint32Array[];
  readonly weights: readonly Float64Array[];
}

/** Endpoints and, if not 1, the weight of an edge. */
export type Edge = readonly [number, number, number?];

export function graph(size: number, edges: Iterable<Edge>): Graph {
  checkInteger("size", size, 1);
  const list = listOfEdges(edges);
  list.forEach(([i, j, weight = 1], e) => {
    for (const end of [i, j]) {
      checkInteger(`edge ${e} (${i}, ${j}): device`, end, 0, size - 1, `the graph has ${size} devices`);
    }
    if (i === j) throw new RangeError(`edge ${e} must join two different devices, got a self-loop at device ${i}`);
    checkNumber(`edge ${e} (${i}, ${j}): weight`, weight, (value) => value > 0, "a finite number above 0");
  });
  const made = graphOf(size, list);
  made.neighbours.forEach((row, i) => {
    const repeated = row.findIndex((device, at) => at > 0 && device === row[at - 1]);
    if (repeated >= 0) throw new RangeError(`edges must be given once, got (${i}, ${row[repeated]}) twice`);
  });
  return made;
}

function listOfEdges(edges: Iterable<Edge>): Edge[] {
  if (typeof edges !== "object" || edges === null || !(Symbol.iterator in edges)) {
    throw new TypeError(`edges must be a list of pairs of devices, got ${show(edges)}`);
  }
  const list = Array.from(edges);
  const wrong = list.findIndex((edge) => !isList(edge));
  if (wrong >= 0) throw new TypeError(`edge ${wrong} must be a pair of devices, got ${show(list[wrong])}`);
  return list;
}

/** A graph of edges that are known to be right, each given once. */
export function graphOf(size: number, edges: Iterable<Edge>): Graph {
  const targets = Array.from({ length: size }, (): (readonly [number, number])[] => []);
  for (const [i, j, weight = 1] of edges) {
    targets[i].push([j, weight]);
    targets[j].push([i, weight]);
  }
  for (const row of targets) row.sort((a, b) => a[0] - b[0]);
  return {
    size,
    neighbours: targets.map((row) => Uint32Array.from(row, ([device]) => device)),
    weights: targets.map((row) => Float64Array.from(row, ([, weight]) => weight)),
  };
}

/** All adjacency lists one behind the other: that of device i is from starts[i] up to starts[i + 1]. */
export interface PackedLinks {
  readonly starts: Uint32Array;
  readonly devices: Uint32Array;
  readonly weights: Float64Array;
}

export function packLinks({ size, neighbours, weights }: Graph): PackedLinks {
  const starts = new Uint32Array(size + 1);
  for (let i = 0; i < size; i++) starts[i + 1] = starts[i] + neighbours[i].length;
  const packed = { starts, devices: new Uint32Array(starts[size]), weights: new Float64Array(starts[size]) };
  for (let i = 0; i < size; i++) {
    packed.devices.set(neighbours[i], starts[i]);
    packed.weights.set(weights[i], starts[i]);
  }
  return packed;
}

/** Every edge once, as (i, j, weight) with i < j. */
export function* edges(network: Graph): Generator<readonly [number, number, number]> {
  checkGraph(network);
  for (let i = 0; i < network.size; i++) {
    const row = network.neighbours[i];
    for (let at = 0; at < row.length; at++) if (row[at] > i) yield [i, row[at], network.weights[i][at]];
  }
}

export function complete(size: number): Graph {
  checkInteger("size", size, 1);
  return graphOf(size, allPairs(size));
}

export function path(size: number): Graph {
  checkInteger("size", size, 1);
  return graphOf(
    size,
    Array.from({ length: size - 1 }, (_, i) => [i, i + 1] as const),
  );
}

export function ring(size: number): Graph {
  checkInteger("size", size, 1);
  // Two devices have one link, not two.
  const links = size <= 2 ? size - 1 : size;
  return graphOf(
    size,
    Array.from({ length: links }, (_, i) => [i, (i + 1) % size] as const),
  );
}

/** Device 0 in the middle. */
export function star(size: number): Graph {
  checkInteger("size", size, 1);
  return graphOf(
    size,
    Array.from({ length: size - 1 }, (_, i) => [0, i + 1] as const),
  );
}

/** A rectangle of devices, each linked to those left, right, above and below. */
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
  return graphOf(rows * columns, links);
}

/** G(n, p): every pair is linked with probability p. Time and memory grow with the edges, not with the pairs. */
export function erdosRenyi(size: number, probability: number, random: Random): Graph {
  checkInteger("size", size, 1);
  checkProbability("probability", probability);
  checkRandom(random);
  return graphOf(size, sampledPairs(size, probability, random));
}

/** Watts and Strogatz: a ring with links to the `degree` nearest, of which each is moved with probability `rewire`. */
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
  return graphOf(
    size,
    linked.flatMap((others, i) => Array.from(others, (j) => [i, j] as const).filter(([, j]) => i < j)),
  );
}

/** Devices at random places of the unit square, linked when at most `radius` apart. */
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
  return graphOf(size, links);
}

/** The block model: devices of one community are linked with probability `inside`, others with `between`. */
export function communities(sizes: readonly number[], inside: number, between: number, random: Random): Graph {
  checkArray("sizes", sizes, "numbers, one for each community");
  if (sizes.length === 0) throw new RangeError("sizes must name at least one community, got none");
  sizes.forEach((size, c) => {
    checkInteger(`sizes[${c}]`, size, 1);
  });
  checkProbability("inside", inside);
  checkProbability("between", between);
  checkRandom(random);
  const starts = sizes.map((_, c) => sizes.slice(0, c).reduce((a, b) => a + b, 0));
  const links: Edge[] = [];
  sizes.forEach((size, c) => {
    for (const [i, j] of sampledPairs(size, inside, random)) links.push([starts[c] + i, starts[c] + j]);
    for (let other = c + 1; other < sizes.length; other++) {
      for (const at of sampled(size * sizes[other], between, random)) {
        links.push([starts[c] + Math.floor(at / sizes[other]), starts[other] + (at % sizes[other])]);
      }
    }
  });
  return graphOf(
    sizes.reduce((a, b) => a + b),
    links,
  );
}

/** The component of every device; components are numbered 0, 1, ... by their lowest device. */
export function connectedComponents(network: Graph): Uint32Array {
  checkGraph(network);
  const component = new Uint32Array(network.size);
  let count = 0;
  for (const [device, , hops] of breadthFirst(network)) {
    if (hops === 0) count++;
    component[device] = count - 1;
  }
  return component;
}

/** The devices of each component. */
export function componentsOf(network: Graph): number[][] {
  const components: number[][] = [];
  connectedComponents(network).forEach((c, i) => {
    components[c] ??= [];
    components[c].push(i);
  });
  return components;
}

/** Every device as (device, parent, hops), each component from its lowest device outwards; a root is its own parent. */
export function* breadthFirst(network: Graph): Generator<readonly [number, number, number]> {
  const seen = new Uint8Array(network.size);
  for (let root = 0; root < network.size; root++) {
    if (seen[root]) continue;
    seen[root] = 1;
    let frontier: (readonly [number, number])[] = [[root, root]];
    for (let hops = 0; frontier.length > 0; hops++) {
      const next: (readonly [number, number])[] = [];
      for (const [device, parent] of frontier) {
        yield [device, parent, hops];
        for (const other of network.neighbours[device]) {
          if (!seen[other]) {
            seen[other] = 1;
            next.push([other, device]);
          }
        }
      }
      frontier = next;
    }
  }
}

function checkProbability(name: string, value: number): void {
  checkNumber(name, value, (number) => number >= 0 && number <= 1, "a number from 0 to 1");
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
