// What communication costs: sending to neighbours, flooding or summing over a component, or sending to one collector.

import {
  breadthFirst,
  componentsInForest,
  emptyForest,
  type Forest,
  type Graph,
  hopsFrom,
  type PackedLinks,
  packGraph,
} from "./graph.ts";

/** How often devices sent to their neighbours, and the bytes that crossed links. */
export interface Traffic {
  readonly messages: number;
  readonly bytes: number;
}

/**
 * Every device sends to its neighbours once: device i numbers[i] numbers of 8 bytes to each.
 * @example sendTraffic(path(3), [6, 6, 6]) // { messages: 3, bytes: 192 }
 */
export function sendTraffic({ neighbours }: Graph, numbers: ArrayLike<number>): Traffic {
  let messages = 0;
  let bytes = 0;
  neighbours.forEach((row, i) => {
    if (row.length === 0 || numbers[i] === 0) return;
    messages++;
    bytes += row.length * numbers[i] * 8;
  });
  return { messages, bytes };
}

/**
 * A sum over each component, known to all of it: up a breadth-first tree, every device adding its own and its children's
 * part, and down again. A parent learns the sum of a subtree, nobody the part of another.
 * @example sumTraffic(path(3), 6) // { messages: 4, bytes: 192 }
 */
export function sumTraffic(graph: Graph, numbers: number, { parents }: Forest = breadthFirst(graph)): Traffic {
  const isParent = new Uint8Array(graph.size);
  let up = 0;
  for (let device = 0; device < graph.size; device++) {
    if (parents[device] === device) continue;
    up++;
    isParent[parents[device]] = 1;
  }
  const down = isParent.reduce((sum, one) => sum + one, 0);
  return { messages: up + down, bytes: 2 * up * numbers * 8 };
}

/**
 * With a collector one hop from everybody: each device sends it its numbers, and it sends the answer to all in one
 * message.
 */
export function collectorTraffic(numbers: ArrayLike<number>, answer: number): Traffic {
  const sent = Array.from(numbers).filter((own) => own > 0);
  const bytes = 8 * sent.reduce((sum, own) => sum + own, numbers.length * answer);
  return { messages: sent.length + 1, bytes };
}

/**
 * The sum of several costs.
 * @example addTraffic(sendTraffic(path(2), [6, 6]), sumTraffic(path(2), 3)) // { messages: 4, bytes: 144 }
 */
export function addTraffic(...parts: readonly Traffic[]): Traffic {
  return {
    messages: parts.reduce((sum, { messages }) => sum + messages, 0),
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** Up to this many devices every distance is known; in larger networks hops are counted from a few landmarks. */
const MOST_SOURCES = 1000;
/** From each all links are walked through, which in a very large network takes longer than its rounds. */
const landmarksFor = (size: number) => (size > 100_000 ? 4 : 16);

/**
 * Every device starts with its own numbers and passes on, once per hop, all that it has just learned, in one message to
 * its neighbours. Bytes are exact; messages are, up to 1,000 devices, and a lower bound beyond.
 * @example floodTraffic(path(3), [6, 6, 6]) // { messages: 8, bytes: 576 }
 */
export function floodTraffic(
  graph: Graph,
  numbers: ArrayLike<number>,
  links = packGraph(graph),
  forest = breadthFirst(graph, links),
): Traffic {
  const { size, neighbours } = graph;
  const component = componentsInForest(forest);
  const totals = new Float64Array(size);
  for (let i = 0; i < size; i++) totals[component[i]] += numbers[i];
  const bytes = neighbours.reduce((sum, row, i) => sum + row.length * totals[component[i]] * 8, 0);
  return {
    messages:
      size <= MOST_SOURCES
        ? exactMessages(graph, links, numbers)
        : boundedMessages(graph, links, forest, (i) => totals[component[i]] > 0),
    bytes,
  };
}

/** A device sends one message for every distance at which somebody has numbers. */
function exactMessages(graph: Graph, links: PackedLinks, numbers: ArrayLike<number>): number {
  const room = emptyForest(graph.size);
  let messages = 0;
  for (let device = 0; device < graph.size; device++) {
    if (graph.neighbours[device].length === 0) continue;
    const speaking = new Set<number>();
    hopsFrom(links, device, room).forEach((hops, source) => {
      if (hops >= 0 && numbers[source] > 0) speaking.add(hops);
    });
    messages += speaking.size;
  }
  return messages;
}

/** A device's farthest landmark is at most as far as the farthest device. The first landmarks are the roots. */
function boundedMessages(
  graph: Graph,
  links: PackedLinks,
  roots: Forest,
  isHeard: (device: number) => boolean,
): number {
  const room = emptyForest(graph.size);
  const farthest = roots.hops.slice();
  for (let n = 1; n < landmarksFor(graph.size); n++) {
    // The next landmark is as far as possible from those so far.
    const landmark = farthest.indexOf(farthest.reduce((a, b) => Math.max(a, b)));
    const hops = hopsFrom(links, landmark, room);
    for (let i = 0; i < hops.length; i++) if (hops[i] > farthest[i]) farthest[i] = hops[i];
  }
  return graph.neighbours.reduce((sum, row, i) => sum + (row.length > 0 && isHeard(i) ? 1 + farthest[i] : 0), 0);
}
