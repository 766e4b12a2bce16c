// Networks that change their study one device after the other, with crashes on the way, and the networks of the ghosts.

import {
  connectedComponents,
  type Edge,
  edges,
  erdosRenyi,
  fit,
  type Graph,
  graph,
  type Matrix,
  matrix,
  objective,
  path,
  type Random,
  randomStream,
  ring,
  star,
} from "@fedkm/core";
import { contractOf, type Simulation, type Study, simulate, studyId, studyOfPoints } from "@fedkm/device";
import { print } from "../measure.ts";

// Networks for the ghosts: random sizes, graphs, k, alpha and data, and members with other data who come and go.

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

const HOUR = 3_600_000;
const MINUTE = 60_000;

interface Scenario {
  readonly name: string;
  /** The study of which the change makes another one. */
  readonly from: (to: Study) => Partial<Study>;
}

const scenarios: readonly Scenario[] = [
  { name: "twice the alpha", from: ({ alpha }) => ({ alpha: alpha / 2 }) },
  { name: "one cluster more", from: ({ k }) => ({ k: k - 1 }) },
  { name: "wider bounds", from: ({ features }) => ({ features: features.map((f) => ({ ...f, max: f.max - 0.5 })) }) },
];

interface Outcome {
  /** Above a network that never had another study, and above `fit`, in per cent. */
  readonly aboveFresh: number;
  readonly aboveFit: number;
  /** Looks at which a running device had no clusters. */
  readonly withoutAnswer: number;
  /** Devices that did not end the study before. */
  readonly left: number;
}

/** Prints a line for each scenario. The bars: 0.1 % of a fresh network, an answer at every look, and all have changed. */
export async function changes({ first, last }: { first: number; last: number }): Promise<boolean> {
  const rows = [
    ["the new study", "networks", "within 0.1 % of a fresh one", "worst", "of fit", "without an answer", "not changed"],
  ];
  let isGood = true;
  for (const [index, scenario] of scenarios.entries()) {
    const found: Outcome[] = [];
    for (let seed = first + index; seed <= last; seed += scenarios.length) found.push(await change(scenario, seed));
    const within = (of: "aboveFresh" | "aboveFit") => found.filter((outcome) => outcome[of] <= 0.1).length;
    const total = (of: "withoutAnswer" | "left") => found.reduce((sum, outcome) => sum + outcome[of], 0);
    isGood &&= within("aboveFresh") === found.length && total("withoutAnswer") === 0 && total("left") === 0;
    rows.push([
      scenario.name,
      String(found.length),
      String(within("aboveFresh")),
      `${Math.max(...found.map(({ aboveFresh }) => aboveFresh)).toFixed(3)} %`,
      String(within("aboveFit")),
      String(total("withoutAnswer")),
      String(total("left")),
    ]);
  }
  print(
    "A change of study in simulation: 3 to 8 devices, one after the other, each third one crashes on the way",
    rows,
  );
  return isGood;
}

async function change({ from }: Scenario, seed: number): Promise<Outcome> {
  const { study: to, datasets, links: graph } = ghostNetwork(seed, 0);
  const study = { ...to, ...from(to) };
  const [contract, next] = [await contractOf(study), { study: to, contract: await contractOf(to) }];
  const network = simulate({ study, contract, datasets, graph, seed });
  const fresh = simulate({ ...next, datasets, graph, seed });
  if (!network.settle(HOUR) || !fresh.settle(HOUR)) throw new Error(`devices must settle, seed ${seed} did not`);
  const random = randomStream(seed, "change");
  let withoutAnswer = 0;
  for (const [n, i] of shuffled(datasets.length, random).entries()) {
    network.begin(i, { ...next, rows: datasets[i] });
    withoutAnswer += looks(network, datasets.length, 5_000 * random());
    if (n % 3 !== 1) continue;
    network.crash(i);
    network.run(3_000 * random());
    network.restart(i);
  }
  withoutAnswer += looks(network, datasets.length, 2 * MINUTE);
  if (!network.settle(HOUR)) throw new Error(`devices must settle again, seed ${seed} did not`);
  const { alpha, k, coupling, weighting } = to;
  const reached = objective(datasets, network.centroids(), graph, { alpha, coupling, weighting });
  const best = fit(datasets, graph, { k, alpha, seed: 1, rounds: 5_000 }).objective;
  const above = (reference: number) => 100 * (reached / reference - 1);
  const left = datasets.filter((_, i) => network.change(i).study !== studyId(next.contract)).length;
  return { aboveFresh: above(fresh.objective()), aboveFit: above(best), withoutAnswer, left };
}

/** Lets so much time pass; returns how often a device had no clusters at a look. */
function looks(network: Simulation, devices: number, milliseconds: number): number {
  let without = 0;
  for (let passed = 0; passed < milliseconds; passed += 500) {
    network.run(500);
    for (let i = 0; i < devices; i++) if (network.status(i).centroids === null) without++;
  }
  return without;
}

function shuffled(count: number, random: Random): number[] {
  const drawn = Array.from({ length: count }, (_, i) => ({ i, at: random() }));
  return drawn.sort((a, b) => a.at - b.at).map(({ i }) => i);
}
