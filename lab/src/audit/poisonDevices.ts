// The same attacks on real devices: six that talk over TCP, of which one sends lies in every frame.

import { complete, globalCentroidDeviation, kmeans, type Matrix, matrix, stack } from "@fedkm/core";
import { contractOf } from "@fedkm/device";
import { problem } from "../faults/processes.ts";
import { tcpNetwork } from "../faults/tcpNetwork.ts";
import { print } from "../measure.ts";
import { median } from "../quality/problems.ts";
import { type Lie, withCentroids } from "./openings.ts";

const DEVICES = 6;
const HONEST = 5;
const LIAR = 5;
const SETTLE_MILLISECONDS = 60_000;

const lies: Readonly<Record<string, Lie>> = {
  honest: (numbers) => numbers,
  "1e6": (numbers) => numbers.map(() => 1e6),
  "own + (3, 3)": (numbers) => numbers.map((x) => x + 3),
  "sign flip": (numbers) => numbers.map((x) => -x),
  collapse: (numbers, d) =>
    numbers.map((_, i) => {
      const column = numbers.filter((_, at) => at % d === i % d);
      return column.reduce((sum, x) => sum + x, 0) / column.length;
    }),
};

interface Outcome {
  readonly deviation: number;
  readonly local: number;
  /** The least share of the liar's pulls that a neighbour left out, or null: it heard nothing of it. */
  readonly rejected: number | null;
}

/** Prints a line for each attack. The bar: below ten times the deviation with an honest sixth device. */
export async function poisonedDevices(seeds: number): Promise<boolean> {
  const found = new Map<string, Outcome[]>();
  for (const [name, lie] of Object.entries(lies)) {
    const outcomes: Outcome[] = [];
    for (let seed = 1; seed <= seeds; seed++) outcomes.push(await deviceRun(seed, lie));
    found.set(name, outcomes);
  }
  const deviations = (name: string) => (found.get(name) ?? []).map(({ deviation }) => deviation);
  const bar = 10 * median(deviations("honest"));
  const rows = Array.from(found, ([name, outcomes]) => [
    name,
    median(deviations(name)).toExponential(1),
    Math.max(...deviations(name)).toExponential(1),
    median(outcomes.map(({ local }) => local)).toExponential(1),
    outcomes[0].rejected === null
      ? "all, out of bounds"
      : `${Math.round(100 * Math.min(...outcomes.map(({ rejected }) => rejected ?? 1)))} %`,
  ]);
  print(`Six devices over TCP, all linked, alpha 1, 100 points each; the sixth lies; ${seeds} networks`, [
    ["attack", "GCD of the other five, median", "worst", "own k-means", "of its pull left out, at least"],
    ...rows,
  ]);
  return [...found.keys()].every((name) => median(deviations(name)) <= bar);
}

async function deviceRun(seed: number, lie: Lie): Promise<Outcome> {
  const { study, datasets: all } = problem("iso", seed);
  const datasets = all.slice(0, DEVICES);
  const graph = complete(DEVICES);
  const contract = await contractOf(study);
  const network = await tcpNetwork({
    study,
    datasets,
    graph,
    seed,
    disguise: (device, frame) => (device === LIAR ? withCentroids(contract, frame, lie) : frame),
  });
  try {
    for (let i = 0; i < datasets.length; i++) await network.start(i);
    await network.settled(SETTLE_MILLISECONDS);
    const honest = datasets.slice(0, HONEST);
    const reference = kmeans(stack(honest), { k: study.k, restarts: 20, seed }).centroids;
    const statuses = network.devices.slice(0, HONEST).map((device) => device.status());
    const own = honest.map((points) => kmeans(points, { k: study.k, seed }).centroids);
    const shares = Array.from(graph.neighbours[LIAR], (i) => {
      const liar = network.devices[LIAR].status().peer;
      return statuses[i].neighbours.find(({ peer }) => peer === liar)?.rejected ?? null;
    });
    const known = shares.filter((share) => share !== null);
    return {
      deviation: globalCentroidDeviation(statuses.map(centroidsOf), reference),
      local: globalCentroidDeviation(own, reference),
      rejected: known.length === 0 ? null : Math.min(...known),
    };
  } finally {
    await network.close();
  }
}

function centroidsOf({ centroids }: { readonly centroids: readonly (readonly number[])[] | null }): Matrix {
  return matrix(centroids ?? []);
}
