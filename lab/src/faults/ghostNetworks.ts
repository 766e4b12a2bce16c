// Networks for the ghosts: random sizes, graphs, k, alpha and data, and members with other data who come and go.

import {
  connectedComponents,
  type Edge,
  edges,
  erdosRenyi,
  type Graph,
  graph,
  type Matrix,
  matrix,
  path,
  type Random,
  randomStream,
  ring,
  star,
} from "@fedkm/core";
import { type Study, studyOfPoints } from "@fedkm/device";

export interface GhostNetwork {
  readonly study: Study;
  /** Of the members, then of the ghosts. */
  readonly datasets: readonly Matrix[];
  readonly members: number;
  /** Of the members. */
  readonly links: Graph;
  /** To which members each ghost is linked. */
  readonly ghostLinks: readonly (readonly number[])[];
  /** All links that there ever are. */
  readonly all: Graph;
}

const ROWS = 60;

/** Half of the networks have the same mixture everywhere, the others a different one on every device. */
export function ghostNetwork(seed: number, ghosts: number): GhostNetwork {
  const random = randomStream(seed, "ghosts");
  const below = (most: number) => Math.floor(random() * most);
  const members = 3 + below(6);
  const k = 2 + below(4);
  const alpha = [0.1, 0.3, 1, 3, 10][below(5)];
  const links = [ring, path, star, (size: number) => connected(size, seed)][below(4)](members);
  const own = mixtures(random, { k, members, isSkewed: below(2) === 0 });
  const strangers = Array.from({ length: ghosts }, () => square(random, 60 * random() - 30, 60 * random() - 30));
  const datasets = [...own, ...strangers];
  const ghostLinks = strangers.map(() => [...new Set([below(members), below(members)])]);
  const theirs = ghostLinks.flatMap((others, ghost) => others.map((i): Edge => [i, members + ghost]));
  const all = graph(members + ghosts, [...edges(links), ...theirs]);
  return {
    study: studyOfPoints(datasets, ["x1", "x2"], { name: `ghosts ${seed}`, k, alpha }),
    datasets,
    members,
    links,
    ghostLinks,
    all,
  };
}

function connected(size: number, seed: number): Graph {
  for (let draw = 0; ; draw++) {
    const drawn = erdosRenyi(size, 0.5, randomStream(seed, "graph", draw));
    if (connectedComponents(drawn).every((component) => component === 0)) return drawn;
  }
}

/** Round clusters at least 4 apart, of sigma 0.5 to 2. */
function mixtures(
  random: Random,
  { k, members, isSkewed }: { k: number; members: number; isSkewed: boolean },
): Matrix[] {
  const centres: [number, number][] = [];
  while (centres.length < k) {
    const [x, y] = [20 * random() - 10, 20 * random() - 10];
    if (centres.every(([a, b]) => Math.hypot(a - x, b - y) > 4)) centres.push([x, y]);
  }
  const spreads = centres.map(() => 0.5 + 1.5 * random());
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Array.from({ length: members }, () => {
    const shares = centres.map(() => (isSkewed ? -Math.log(1 - random()) : 1));
    const total = shares.reduce((a, b) => a + b);
    const rows = Array.from({ length: ROWS }, () => {
      let left = random() * total;
      const c = Math.max(
        0,
        shares.findIndex((share) => {
          left -= share;
          return left < 0;
        }),
      );
      return centres[c].map((value) => value + spreads[c] * normal());
    });
    return matrix(rows);
  });
}

function square(random: Random, x: number, y: number): Matrix {
  return matrix(Array.from({ length: ROWS }, () => [x + random(), y + random()]));
}
