// What a generation costs: processor time of a device with real keys, and bytes on each direction of a link.

import { erdosRenyi, type Matrix, normalStream, randomStream } from "@fedkm/core";
import { contractOf, type Study, studyOfPoints } from "@fedkm/device";
import {
  Board,
  createIdentity,
  decodeShared,
  encodeMessage,
  generation,
  idOf,
  isWellSigned,
  maskedEntry,
  nodeSecrets,
  OwnRows,
  outcomeOf,
  ownIntegers,
  shapeOf,
  stages,
  wordsOf,
} from "@fedkm/device/shared";
import { print } from "../measure.ts";
import { network, settledAt } from "./setting.ts";

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
  const shape = shapeOf(study);
  const identities = await Promise.all(datasets.map(() => createIdentity()));
  const secrets = identities.map((identity) => nodeSecrets(identity));
  const ids = secrets.map(({ key }) => idOf(key));
  const graph = erdosRenyi(DEVICES, 0.7, randomStream(1, "graph"));
  const content = {
    stage: stages.rows,
    steps: 0,
    rows: 2_000,
    seeded: 2_000,
    numbers: shape.start ?? new Float64Array(K * D),
  };
  const own = datasets.map((rows) => new OwnRows({ study, shape, rows, seed: 0, history: undefined, onKept() {} }));
  const words = own.map((rows) => wordsOf(ownIntegers(shape, content, rows)));
  const read = decodeShared(shape);
  const round = (number: number) => {
    const now = generation(number, content, contract.hash, secrets[0].digest);
    const entries = secrets.map((one, i) => {
      const partners = Array.from(graph.neighbours[i], (j) => ({ peer: identities[j].peer, id: ids[j], epoch: 1 }));
      return maskedEntry(one, now, { epoch: 1, partners, words: words[i] });
    });
    secrets.forEach((one, i) => {
      const board = new Board();
      // Entries of neighbours come over links that only they can open.
      const near = new Set([i, ...graph.neighbours[i]].map((j) => ids[j]));
      for (const entry of entries) if (near.has(entry.id) || isWellSigned(one, now, entry)) board.add(entry);
      const closed = board.closedAround(ids[i]);
      if (closed === undefined) throw new Error("a board with all entries must be closed");
      outcomeOf(shape, content, closed.totals, DEVICES);
      const stamp = { epoch: 1, sequence: number };
      const flags = { isDropped: false, isAsking: false, isBelow: false, hasHeard: false };
      const base = { stamp, knows: 1, ...flags, number, hash: now.hash, content: undefined };
      const have = entries.map(({ mark }) => mark);
      for (const _ of Array.from(graph.neighbours[i])) {
        const frame = encodeMessage(contract, { ...base, have, entries: entries.slice(0, 2), stage: stages.rows });
        read(contract, frame);
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
      `${milliseconds.toFixed(2)} ms (bar 2)`,
      `${kilobytes.toFixed(1)} kB (bar 8)`,
      (simulated.frames / directions / generations).toFixed(1),
    ],
  ]);
  return milliseconds <= 2 && kilobytes <= 8;
}
