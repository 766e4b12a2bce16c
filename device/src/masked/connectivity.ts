// Whether a network holds together without any few of its devices, by counting paths that have no device in common.

/** For each device the numbers of those that it is linked to. */
export type Links = readonly (readonly number[])[];

/**
 * Whether all others stay connected whichever `fewer` devices are taken out. By Menger's theorem that is so if fewer + 1
 * paths without a common device lead between any two of as many chosen ones, and from everybody else to all of these.
 */
export function holdsWithout(links: Links, fewer: number): boolean {
  const wanted = fewer + 1;
  if (links.length <= wanted) return false;
  const network = pathNetwork(links, wanted);
  for (let from = 0; from < links.length; from++) {
    if (from >= wanted && network.paths(outOf(from), network.chosen) < wanted) return false;
    for (let to = from + 1; to < wanted; to++) {
      if (!links[from].includes(to) && network.paths(outOf(from), into(to)) < wanted) return false;
    }
  }
  return true;
}

/** Every device is two nodes with one way through it, so that only one path can use it. */
const into = (device: number) => 2 * device;
const outOf = (device: number) => 2 * device + 1;

interface Arc {
  readonly to: number;
  /** The same arc in the other direction. */
  readonly back: number;
}

/** Paths of which each takes the arcs that it uses away from the others; `chosen` is a node behind the first devices. */
function pathNetwork(links: Links, wanted: number) {
  const chosen = 2 * links.length;
  const arcs: Arc[] = [];
  const from: number[][] = Array.from({ length: chosen + 1 }, () => []);
  const isFree: number[] = [];
  const connect = (a: number, b: number) => {
    from[a].push(arcs.length);
    arcs.push({ to: b, back: arcs.length + 1 });
    from[b].push(arcs.length);
    arcs.push({ to: a, back: arcs.length - 1 });
    isFree.push(1, 0);
  };
  links.forEach((others, device) => {
    connect(into(device), outOf(device));
    for (const other of others) connect(outOf(device), into(other));
    if (device < wanted) connect(outOf(device), chosen);
  });
  const paths = (source: number, sink: number) => {
    const free = Uint8Array.from(isFree);
    let found = 0;
    while (found < wanted && takePath(source, sink, free)) found++;
    return found;
  };
  /** One path more over arcs that are free, which may give back arcs of those before. */
  const takePath = (source: number, sink: number, /* IN OUT */ free: Uint8Array) => {
    const reachedBy = new Int32Array(from.length).fill(-1);
    const queue = [source];
    for (const node of queue) {
      for (const arc of from[node]) {
        const { to } = arcs[arc];
        if (free[arc] === 0 || to === source || reachedBy[to] >= 0) continue;
        reachedBy[to] = arc;
        queue.push(to);
      }
      if (reachedBy[sink] >= 0) break;
    }
    if (reachedBy[sink] < 0) return false;
    for (let node = sink; node !== source; node = arcs[arcs[reachedBy[node]].back].to) {
      free[reachedBy[node]] = 0;
      free[arcs[reachedBy[node]].back] = 1;
    }
    return true;
  };
  return { paths, chosen };
}
