// Networks that change their study one device after the other while all run, with crashes on the way.

import { fit, objective, type Random, randomStream } from "@fedkm/core";
import { contractOf, type Simulation, type Study, simulate, studyId } from "@fedkm/device";
import { print } from "../measure.ts";
import { ghostNetwork } from "./ghostNetworks.ts";

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
