// What a generation costs: processor time with real keys, bytes on each link, and how both grow with the network.

import { type Edge, erdosRenyi, graph, type Matrix, normalStream, paperData, randomStream } from "@fedkm/core";
import { contractOf, type Study, studyOfPoints } from "@fedkm/device";
import {
  Board,
  baseAfterBoard,
  createIdentity,
  decodeShared,
  encodeBoardMessage,
  firstBase,
  generationOf,
  hashedBase,
  idOf,
  isEntrySigned,
  maskedEntry,
  nodeSecrets,
  ownIntegers,
  proofMessage,
  SharedRows,
  stages,
  sumsShape,
  toInt64s,
} from "@fedkm/device/shared";
import { print } from "../measure.ts";
import { judge, network, settledAt } from "./sharedNetwork.ts";

// How sums grow with a network: frames and bytes of a device in a generation, by the number of devices, each with six
// links; as a board, which everybody has whole, and over a tree.

const LINKS = 6;
const WITHIN_MILLISECONDS = 600_000;
/** Between two looks: a look at 10,000 devices takes a while. */
const LOOK_MILLISECONDS = 500;

/** A ring with three further partners for each device, drawn at random: few hops from everybody to everybody. */
function drawn(size: number) {
  const random = randomStream(size, "growth");
  const links: Edge[] = Array.from({ length: size }, (_, i) => [i, (i + 1) % size]);
  const seen = new Set(links.map(([i, j]) => `${Math.min(i, j)} ${Math.max(i, j)}`));
  while (links.length < Math.min((LINKS / 2) * size, (size * (size - 1)) / 2)) {
    const [i, j] = [Math.floor(size * random()), Math.floor(size * random())];
    const pair = `${Math.min(i, j)} ${Math.max(i, j)}`;
    if (i === j || seen.has(pair)) continue;
    seen.add(pair);
    links.push([i, j]);
  }
  return graph(size, links);
}

export interface GrowthOptions {
  readonly boards: readonly number[];
  readonly trees: readonly number[];
}

/** Bars: all settle on one answer, that of all rows; over a tree a device's bytes do not grow by half from the first size to the last. */
export async function growth({ boards, trees }: GrowthOptions): Promise<boolean> {
  const rows = [["sums", "devices", "generations", "frames", "kB", "settled after", "step of pooled k-means"]];
  let isGood = true;
  const bytes: number[] = [];
  for (const [sums, size] of [...boards.map((n) => ["board", n] as const), ...trees.map((n) => ["tree", n] as const)]) {
    const found = await grown(sums, size);
    isGood &&= found.isSettled && found.isSame && found.step < 1e-9;
    if (sums === "tree") bytes.push(found.bytes);
    rows.push([
      sums,
      String(size),
      String(found.generations),
      found.frames.toFixed(1),
      (found.bytes / 1000).toFixed(1),
      found.isSettled ? `${(found.at / 1000).toFixed(1)} s` : "never",
      found.step.toExponential(1),
    ]);
  }
  print(
    "Sums by the number of devices, k 3, two features, six links each; frames and kB of a device in a generation",
    rows,
  );
  return isGood && (bytes.at(-1) ?? 0) <= 1.5 * (bytes[0] ?? 0);
}

async function grown(sums: "board" | "tree", size: number) {
  const datasets: readonly Matrix[] = paperData("iso", size, 20, 1).datasets;
  const plain = studyOfPoints(datasets.slice(0, 1), ["x1", "x2"], { name: "growth", alpha: 0 });
  const features = plain.features.map((feature) => ({ ...feature, min: -30, max: 30 }));
  // A seed near the middle: what is measured are the generations of k-means.
  const seed = [
    [0, 0],
    [1, 1],
    [-1, 1],
  ];
  const shared = { ...plain, features, clusters: "shared", colluders: 1, seed } as const;
  const study: Study = sums === "tree" ? { ...shared, sums } : shared;
  const simulated = await network({ study, datasets, graph: drawn(size), seed: 1 });
  const isSettled = simulated.settle(WITHIN_MILLISECONDS, LOOK_MILLISECONDS);
  const generations = 1 + (simulated.status(0).shared?.generation ?? 0);
  return {
    isSettled,
    at: simulated.now(),
    generations,
    frames: simulated.frames / size / generations,
    bytes: simulated.bytes / size / generations,
    ...judge(simulated.centroids(), datasets),
  };
}

const DEVICES = 10;
const K = 16;
const D = 16;
const GENERATIONS = 100;

function problem(): { study: Study; datasets: Matrix[] } {
  const normal = normalStream(randomStream(1, "costs"));
  const datasets = Array.from({ length: DEVICES }, () => {
    const data = Float64Array.from(
      { length: 200 * D },
      (_, i) => 8 * (Math.floor(i / D) % K === i % D ? 1 : 0) + normal(),
    );
    return { data, rows: 200, cols: D };
  });
  const names = Array.from({ length: D }, (_, f) => `x${f}`);
  const study = studyOfPoints(datasets, names, { name: "costs", k: K, alpha: 0 });
  const seed = Array.from({ length: K }, (_, c) => Array.from({ length: D }, (_, f) => (c === f ? 5 : 0)));
  return { study: { ...study, clusters: "shared", colluders: 1, seed }, datasets };
}

/** Everything that a device does for others in a generation, its pass over its own rows left out. */
async function processorTime(study: Study, datasets: readonly Matrix[]): Promise<number> {
  const contract = await contractOf(study);
  const shape = sumsShape(study);
  const identities = await Promise.all(datasets.map(() => createIdentity()));
  const secrets = identities.map((identity) => nodeSecrets(identity));
  const ids = secrets.map(({ key }) => idOf(key));
  const graph = erdosRenyi(DEVICES, 0.7, randomStream(1, "graph"));
  const rules = { shape, study: contract.hash, colluders: 1, secrets: secrets[0] };
  // What is asked most often: sums at centroids.
  const content = { ...firstBase(rules), stage: stages.rows, numbers: shape.start ?? new Float64Array(K * D) };
  const history = { memory: undefined, onKept() {}, wallClock: () => 0 };
  const own = datasets.map((rows, i) => {
    const { sign } = secrets[i];
    return new SharedRows({ study, shape, rows, seed: 0, sign, history });
  });
  const words = own.map((rows) => toInt64s(ownIntegers(shape, content, rows)));
  const read = decodeShared(shape);
  const round = (number: number) => {
    const start = { ...content, number };
    const now = generationOf(rules, hashedBase(start, contract.hash, secrets[0].digest), new Map());
    const entries = secrets.map((one, i) => {
      const partners = Array.from(graph.neighbours[i], (j) => ({ peer: identities[j].peer, id: ids[j], epoch: 1 }));
      return maskedEntry(one, now, { epoch: 1, partners, words: words[i] });
    });
    secrets.forEach((one, i) => {
      const board = new Board();
      for (const entry of entries) if (entry.id === ids[i] || isEntrySigned(one, now, entry)) board.add(entry);
      const closed = board.closedAround(ids[i]);
      if (closed === undefined) throw new Error("a board with all entries must be closed");
      baseAfterBoard(rules, now, closed, (id) => board.entryOf(id));
      const stamp = { epoch: 1, sequence: number };
      const shown = { ...proofMessage(now, entries.slice(0, 2)), kind: "board", base: undefined, stamp } as const;
      const have = entries.map(({ mark }) => mark);
      for (const _ of Array.from(graph.neighbours[i])) {
        read(contract, encodeBoardMessage(contract, { ...shown, have }));
      }
    });
  };
  for (let n = 0; n < 20; n++) round(n);
  const before = process.cpuUsage();
  for (let n = 0; n < GENERATIONS; n++) round(100 + n);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / GENERATIONS / DEVICES;
}

export async function costs(): Promise<boolean> {
  const { study, datasets } = problem();
  const milliseconds = await processorTime(study, datasets);
  const graph = erdosRenyi(DEVICES, 0.7, randomStream(1, "graph"));
  const simulated = await network({ study, datasets, graph, seed: 1 });
  const everyone = datasets.map((_, i) => i);
  settledAt(simulated, everyone, 60_000);
  const directions = graph.neighbours.reduce((sum, { length }) => sum + length, 0);
  const generations = 1 + (simulated.status(0).shared?.generation ?? 0);
  const kilobytes = simulated.bytes / directions / generations / 1000;
  print(`A generation of ten devices, k = d = 16 (${generations} generations to the end)`, [
    ["processor time of a device, real keys", "sent on each direction of a link", "frames on it"],
    [
      `${milliseconds.toFixed(2)} ms (bar 2.5)`,
      `${kilobytes.toFixed(1)} kB (bar 8)`,
      (simulated.frames / directions / generations).toFixed(1),
    ],
  ]);
  return milliseconds <= 2.5 && kilobytes <= 8;
}
