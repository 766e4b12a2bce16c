// The communication network: an undirected, weighted graph as adjacency lists, its edges and its components.

import { checkArray, checkGraph, checkInteger, checkNumber } from "../data/check.ts";
import { describeArgument, isList } from "../data/optionNames.ts";

/** Who is linked with whom. `graph(size, edges)` makes one. */
export interface Graph {
  readonly size: number;
  /** neighbours[i] lists N(i) in rising order; weights[i] holds A(i, j) in the same order. */
  readonly neighbours: readonly Uint32Array[];
  readonly weights: readonly Float64Array[];
}

/** Endpoints and, if not 1, the weight of an edge. */
export type Edge = readonly [number, number, number?];

/**
 * A network of `size` devices with these links; a third number is the weight of a link, by default 1.
 * @example graph(3, [[0, 1], [1, 2, 0.5]]).neighbours // [[1], [0, 2], [1]]
 */
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
  const made = graphOfEdges(size, list);
  made.neighbours.forEach((row, i) => {
    const repeated = row.findIndex((device, at) => at > 0 && device === row[at - 1]);
    if (repeated >= 0) throw new RangeError(`edges must be given once, got (${i}, ${row[repeated]}) twice`);
  });
  return made;
}

function listOfEdges(edges: Iterable<Edge>): Edge[] {
  if (typeof edges !== "object" || edges === null || !(Symbol.iterator in edges)) {
    throw new TypeError(`edges must be a list of pairs of devices, got ${describeArgument(edges)}`);
  }
  const list = Array.from(edges);
  const wrong = list.findIndex((edge) => !isList(edge));
  if (wrong >= 0) throw new TypeError(`edge ${wrong} must be a pair of devices, got ${describeArgument(list[wrong])}`);
  return list;
}

/**
 * A graph of edges that are known to be right, each given once. Its lists lie one behind the other in one array, and they
 * are sorted by counting, so that time and memory grow with devices and edges alone.
 */
export function graphOfEdges(size: number, edges: Iterable<Edge>): Graph {
  // Plain numbers, because very many edges as objects would take ten times the room.
  const ends: number[] = [];
  const given: number[] = [];
  const starts = new Uint32Array(size + 1);
  for (const [i, j, weight = 1] of edges) {
    ends.push(i, j);
    given.push(weight);
    starts[i + 1]++;
    starts[j + 1]++;
  }
  for (let i = 0; i < size; i++) starts[i + 1] += starts[i];
  const { devices, weights } = sortedLinks(unsortedLinks(starts, ends, given));
  const row = <Row>(all: { subarray(from: number, to: number): Row }, i: number) =>
    all.subarray(starts[i], starts[i + 1]);
  return {
    size,
    neighbours: Array.from({ length: size }, (_, i) => row(devices, i)),
    weights: Array.from({ length: size }, (_, i) => row(weights, i)),
  };
}

/** Every edge in the lists of both its ends, in the order in which edges were given. */
function unsortedLinks(starts: Uint32Array, ends: readonly number[], given: readonly number[]): PackedLinks {
  const links = { starts, devices: new Uint32Array(ends.length), weights: new Float64Array(ends.length) };
  const next = starts.slice();
  for (let end = 0; end < ends.length; end++) {
    const at = next[ends[end]]++;
    // The other end of the same edge.
    links.devices[at] = ends[end ^ 1];
    links.weights[at] = given[end >> 1];
  }
  return links;
}

/** The same with every list in rising order: whoever goes through the devices in order meets each one's links in order. */
function sortedLinks({ starts, devices, weights }: PackedLinks): PackedLinks {
  const sorted = { starts, devices: new Uint32Array(devices.length), weights: new Float64Array(weights.length) };
  const next = starts.slice();
  for (let i = 0; i + 1 < starts.length; i++) {
    for (let at = starts[i]; at < starts[i + 1]; at++) {
      const place = next[devices[at]]++;
      sorted.devices[place] = i;
      sorted.weights[place] = weights[at];
    }
  }
  return sorted;
}

/** All adjacency lists one behind the other: that of device i is from starts[i] up to starts[i + 1]. */
export interface PackedLinks {
  readonly starts: Uint32Array;
  readonly devices: Uint32Array;
  readonly weights: Float64Array;
}

export function packGraph({ size, neighbours, weights }: Graph): PackedLinks {
  const starts = new Uint32Array(size + 1);
  for (let i = 0; i < size; i++) starts[i + 1] = starts[i] + neighbours[i].length;
  const packed = { starts, devices: new Uint32Array(starts[size]), weights: new Float64Array(starts[size]) };
  // Plain loops: for a handful of numbers they are faster than `set`.
  for (let i = 0, at = 0; i < size; i++) {
    const row = neighbours[i];
    const own = weights[i];
    for (let n = 0; n < row.length; n++, at++) {
      packed.devices[at] = row[n];
      packed.weights[at] = own[n];
    }
  }
  return packed;
}

/**
 * Every edge once, as (i, j, weight) with i < j.
 * @example [...edges(graph(3, [[0, 1], [1, 2, 0.5]]))] // [[0, 1, 1], [1, 2, 0.5]]
 */
export function* edges(network: Graph): Generator<readonly [number, number, number]> {
  checkGraph(network);
  for (let i = 0; i < network.size; i++) {
    const row = network.neighbours[i];
    for (let at = 0; at < row.length; at++) if (row[at] > i) yield [i, row[at], network.weights[i][at]];
  }
}

/**
 * The component of every device; components are numbered 0, 1, ... by their lowest device.
 * @example connectedComponents(graph(3, [[0, 2]])) // [0, 1, 0]
 */
export function connectedComponents(network: Graph): Uint32Array {
  checkGraph(network);
  return componentsInForest(breadthFirst(network));
}

/**
 * The network between some of its devices, which are numbered anew, in the order in which they are given.
 * @example [...edges(subgraph(path(4), [3, 2]))] // [[0, 1, 1]]
 */
export function subgraph(network: Graph, devices: readonly number[]): Graph {
  checkGraph(network);
  checkArray("devices", devices, "numbers of devices");
  const numbers = new Map(devices.map((device, at) => [device, at]));
  const kept = Array.from(edges(network)).flatMap(([i, j, weight]): Edge[] => {
    const [from, to] = [numbers.get(i), numbers.get(j)];
    return from === undefined || to === undefined ? [] : [[from, to, weight]];
  });
  return graphOfEdges(devices.length, kept);
}

/** The same where the trees are known. */
export function componentsInForest({ order, hops }: Forest): Uint32Array {
  const component = new Uint32Array(order.length);
  let count = 0;
  for (const device of order) {
    if (hops[device] === 0) count++;
    component[device] = count - 1;
  }
  return component;
}

export function componentsOf(network: Graph): number[][] {
  checkGraph(network);
  return forestMembers(breadthFirst(network));
}

/** The devices of every component, where the trees are known. */
export function forestMembers(forest: Forest): number[][] {
  const members: number[][] = [];
  componentsInForest(forest).forEach((c, i) => {
    members[c] ??= [];
    members[c].push(i);
  });
  return members;
}

/** Trees that reach every device of their component by the fewest hops. */
export interface Forest {
  /** All devices, those of each component from its lowest device, its root, outwards. */
  readonly order: Uint32Array;
  /** Of every device; a root is its own. */
  readonly parents: Uint32Array;
  /** Of every device, from its root. */
  readonly hops: Int32Array;
}

export function breadthFirst(network: Graph, links = packGraph(network)): Forest {
  const { size } = network;
  const forest = emptyForest(size);
  for (let root = 0, found = 0; root < size; root++)
    if (forest.hops[root] < 0) found = reach(links, root, forest, found);
  return forest;
}

export function emptyForest(size: number): Forest {
  return { order: new Uint32Array(size), parents: new Uint32Array(size), hops: new Int32Array(size).fill(-1) };
}

/** Hops from one device to all; -1 where no path leads. `room` is written over. */
export function hopsFrom(links: PackedLinks, source: number, /* OUT */ room: Forest): Int32Array {
  room.hops.fill(-1);
  reach(links, source, room, 0);
  return room.hops;
}

/** Adds the tree of `root` behind the devices that were found before; returns how many there are now. */
function reach(
  { starts, devices }: PackedLinks,
  root: number,
  /* IN OUT */ { order, parents, hops }: Forest,
  before: number,
): number {
  let found = before;
  order[found++] = root;
  parents[root] = root;
  hops[root] = 0;
  for (let at = before; at < found; at++) {
    const device = order[at];
    for (let link = starts[device]; link < starts[device + 1]; link++) {
      const other = devices[link];
      if (hops[other] >= 0) continue;
      hops[other] = hops[device] + 1;
      parents[other] = device;
      order[found++] = other;
    }
  }
  return found;
}
