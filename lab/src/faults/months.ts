// Two years in the life of a network of fifty devices: every day something happens, and every evening it must be right.

import {
  edges,
  fit,
  type Graph,
  graph,
  type Matrix,
  matchCentroids,
  matrix,
  objective,
  type Random,
  randomStream,
} from "@fedkm/core";
import { contractOf, type Simulation, type Study, simulate } from "@fedkm/device";
import { print } from "../measure.ts";

const DEVICES = 60;
const MEMBERS = 50;
const ROWS = 60;
const MINUTE = 60_000;
/** A neighbour is away after 50 heartbeats. */
const AWAY = 26 * MINUTE;
const YEAR_MILLISECONDS = 31_557_600_000;

const trusting: Study = {
  name: "months",
  k: 4,
  features: ["x1", "x2"].map((name) => ({ name, unit: "", min: -40, max: 40, scale: 1 })),
  alpha: 1,
  coupling: "nearest",
  weighting: "device",
  typicalRows: null,
  privacy: "open",
  minimum: 5,
  neighbours: "trusted",
};

/** The network as its owners know it. */
interface World {
  readonly study: Study;
  readonly network: Simulation;
  readonly random: Random;
  readonly all: Graph;
  readonly present: Set<number>;
  readonly datasets: Matrix[];
}

const happenings: Record<string, (world: World) => void> = {
  nothing: () => {},
  join(world) {
    const device = pick(world, (i) => !world.present.has(i));
    if (device === undefined) return;
    world.present.add(device);
    setRows(world, device);
    link(world);
    world.network.restart(device);
  },
  leave(world) {
    const device = pick(world, (i) => world.present.has(i));
    if (device === undefined || world.present.size < MEMBERS - 5) return;
    world.network.crash(device);
    world.network.run(MINUTE * world.random());
    world.present.delete(device);
    link(world);
    world.network.forget(device);
  },
  "data change"(world) {
    const device = pick(world, (i) => world.present.has(i));
    if (device !== undefined) setRows(world, device);
  },
  restarts(world) {
    for (let n = 0; n < 5; n++) {
      const device = pick(world, (i) => world.present.has(i));
      if (device === undefined) continue;
      world.network.crash(device);
      world.network.run(MINUTE * world.random());
      world.network.restart(device);
    }
  },
  "clock a year ahead"(world) {
    const device = pick(world, (i) => world.present.has(i));
    if (device === undefined) return;
    world.network.crash(device);
    world.network.restart(device, YEAR_MILLISECONDS);
  },
  "long absence"(world) {
    const device = pick(world, (i) => world.present.has(i));
    if (device === undefined) return;
    world.network.crash(device);
    world.network.run(AWAY);
    world.network.restart(device);
  },
  partition(world) {
    const across = Array.from(edges(world.all)).filter(([i, j]) => i < DEVICES / 2 !== j < DEVICES / 2);
    for (const [i, j] of across) world.network.setCut(i, j, true);
    world.network.run(AWAY * (world.random() < 0.5 ? 1 : 0.1));
    for (const [i, j] of across) world.network.setCut(i, j, false);
  },
};

/** In per cent above the objective of `fit`. */
const BAR = 0.1;

interface Evening {
  /** In per cent above the objective of `fit` with the gate or without, as the devices are, and without it. */
  readonly above: number;
  readonly abovePlain: number;
}

/**
 * Devices that trust their neighbours, and devices that doubt them. The bar is 0.1 % above `fit` on the same rows, every
 * evening; where devices have the gate, so has `fit`, and what the gate itself costs is printed beside it.
 */
export async function months({ days }: { days: number }): Promise<boolean> {
  const { neighbours, ...doubting } = trusting;
  const isTrueToFit = await live(trusting, days);
  return (await live(doubting, days)) && isTrueToFit;
}

/** Prints a line for each thing that happens. */
async function live(study: Study, days: number): Promise<boolean> {
  const world = await begin(study);
  const names = Object.keys(happenings);
  const evenings = new Map(names.map((name): [string, Evening[]] => [name, []]));
  let unsettled = 0;
  let alike = 0;
  for (let day = 0; day < days; day++) {
    const name = day === 0 ? "nothing" : names[Math.floor(world.random() * names.length)];
    happenings[name](world);
    if (!world.network.settle(10 * MINUTE)) {
      unsettled++;
      missed(day, name, "the devices have not settled");
    }
    const evening = compare(world, day);
    const { above } = evening;
    evenings.get(name)?.push(evening);
    if (numbersAgree(world)) alike++;
    else missed(day, name, "neighbours number their clusters differently");
    if (above > BAR) missed(day, name, `the objective is ${above.toFixed(4)} % above that of fit`);
    if ((day + 1) % 30 === 0) console.error(`  ${day + 1} of ${days} days, ${world.network.frames} frames so far`);
  }
  const isTrusting = study.neighbours === "trusted";
  const asThey = isTrusting ? "fit" : "fit with the gate";
  const heading = ["what happened", "days", `within ${BAR} % of ${asThey}`, "worst"];
  const rows = [isTrusting ? heading : [...heading, "of fit without", "worst"]];
  for (const [name, found] of [...evenings, ["all", [...evenings.values()].flat()] as const]) {
    const summary = (numbers: readonly number[]) => [
      String(numbers.filter((above) => above <= BAR).length),
      numbers.length === 0 ? "-" : `${Math.max(...numbers).toFixed(4)} %`,
    ];
    const plain = isTrusting ? [] : summary(found.map(({ abovePlain }) => abovePlain));
    rows.push([name, String(found.length), ...summary(found.map(({ above }) => above)), ...plain]);
  }
  print(
    `${days} days of about ${MEMBERS} simulated devices that ${isTrusting ? "trust" : "doubt"} their neighbours; the quiet part of a day is left out`,
    rows,
  );
  console.log(`  evenings on which the devices had not settled: ${unsettled}`);
  console.log(`  evenings on which all neighbours numbered their clusters alike: ${alike} of ${days}`);
  return unsettled === 0 && [...evenings.values()].flat().every(({ above }) => above <= BAR);
}

function missed(day: number, happened: string, fault: string): void {
  console.error(`  day ${day} (${happened}): ${fault}`);
}

async function begin(study: Study): Promise<World> {
  const random = randomStream(1, "months");
  const all = graph(DEVICES, linksOfDevices(random));
  // Those who are absent are spread around the ring, so that whoever joins has neighbours.
  const absent = Array.from({ length: DEVICES - MEMBERS }, (_, i) => Math.floor((i * DEVICES) / (DEVICES - MEMBERS)));
  const present = new Set(Array.from({ length: DEVICES }, (_, i) => i).filter((i) => !absent.includes(i)));
  const datasets = Array.from({ length: DEVICES }, () => rowsOf(random, random() < 0.3));
  const links = linksOf(all, present);
  const contract = await contractOf(study);
  // Slower than devices are: one update for the news of all neighbours, and fewer frames to simulate.
  const paceMilliseconds = () => 40;
  const network = simulate({ study, contract, datasets, graph: all, seed: 1, links, absent, paceMilliseconds });
  return { study, network, random, all, present, datasets };
}

/** A ring with chords, so that whoever leaves tears nothing apart. */
function linksOfDevices(random: Random): [number, number][] {
  const found = new Map<string, [number, number]>();
  const add = (i: number, j: number) => {
    if (i !== j) found.set(`${Math.min(i, j)} ${Math.max(i, j)}`, [Math.min(i, j), Math.max(i, j)]);
  };
  for (let i = 0; i < DEVICES; i++) {
    for (const step of [1, 2]) add(i, (i + step) % DEVICES);
    if (random() < 0.5) add(i, Math.floor(random() * DEVICES));
  }
  return [...found.values()];
}

const CENTRES = [
  [-20, -15],
  [15, -20],
  [-10, 20],
  [20, 15],
];

/** Rows around four places, which move a little from device to device; some devices have hardly any of one of them. */
function rowsOf(random: Random, isSkewed: boolean): Matrix {
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const missing = isSkewed ? Math.floor(random() * CENTRES.length) : -1;
  const shift = [normal(), normal()];
  const rows = Array.from({ length: ROWS }, (_, r) => {
    const c = r % CENTRES.length;
    const centre = CENTRES[c === missing && random() < 0.9 ? (c + 1) % CENTRES.length : c];
    return centre.map((value, f) => Math.max(-40, Math.min(40, value + shift[f] + 3 * normal())));
  });
  return matrix(rows);
}

function linksOf(all: Graph, present: ReadonlySet<number>): number[][] {
  return all.neighbours.map((others, i) => (present.has(i) ? Array.from(others).filter((j) => present.has(j)) : []));
}

function link({ network, all, present }: World): void {
  for (const [i, others] of linksOf(all, present).entries()) network.setLinks(i, others);
}

function setRows({ network, random, datasets }: World, device: number): void {
  datasets[device] = rowsOf(random, random() < 0.3);
  network.setRows(device, datasets[device]);
}

function pick({ random }: World, isRight: (i: number) => boolean): number | undefined {
  const right = Array.from({ length: DEVICES }, (_, i) => i).filter(isRight);
  return right[Math.floor(random() * right.length)];
}

/** Whether the counterparts of linked devices, those of the lowest total distance, have the same number. */
function numbersAgree({ network, all, present }: World): boolean {
  const centroids = network.centroids();
  return Array.from(edges(all))
    .filter(([i, j]) => present.has(i) && present.has(j))
    .every(([i, j]) => matchCentroids(centroids[i], centroids[j]).every((other, own) => other === own));
}

function compare({ study, network, all, present, datasets }: World, seed: number): Evening {
  const members = [...present].sort((a, b) => a - b);
  const at = new Map(members.map((device, i) => [device, i]));
  const found = Array.from(edges(all)).flatMap(([i, j]): [number, number][] => {
    const [a, b] = [at.get(i), at.get(j)];
    return a === undefined || b === undefined ? [] : [[a, b]];
  });
  const links = graph(members.length, found);
  const rows = members.map((device) => datasets[device]);
  const centroids = network.centroids();
  const own = members.map((device) => centroids[device]);
  const { k, alpha, coupling, weighting, neighbours } = study;
  const objectiveOf = (answer: readonly Matrix[]) => objective(rows, answer, links, { alpha, coupling, weighting });
  const reached = objectiveOf(own);
  const above = (robust: boolean) => {
    const { centroids: answer } = fit(rows, links, { k, alpha, seed, rounds: 2_000, robust });
    return 100 * (reached / objectiveOf(answer) - 1);
  };
  const abovePlain = above(false);
  return { above: neighbours === "trusted" ? abovePlain : above(true), abovePlain };
}
