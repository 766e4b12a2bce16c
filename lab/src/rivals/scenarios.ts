// Problems that are hard on purpose: for every method there are some on which its default could be a handicap.

import {
  erdosRenyi,
  type Graph,
  type LabelledPoints,
  normalStream,
  type PaperKind,
  type Partition,
  paperData,
  path,
  type Random,
  randomStream,
  ring,
  splitBySizes,
  star,
} from "@fedkm/core";
import { type ComparisonProblem, dealBy, parseDeal, type Split } from "@fedkm/experiments";

/** A row and its class, by its number. */
type DrawRow = (random: Random, normal: Random, row: number) => readonly [at: readonly number[], label: number];

interface Scenario {
  readonly name: string;
  readonly draw: (seed: number) => LabelledPoints;
  readonly k: number;
  /** As --split has it, or the rows of every device. */
  readonly split: string | readonly number[];
  readonly devices: number;
  readonly network: (devices: number, seed: number) => Graph;
}

const random70 = (devices: number, seed: number) => erdosRenyi(devices, 0.7, randomStream(seed, "graph"));

function drawn(rows: number, row: DrawRow): Scenario["draw"] {
  return (seed) => {
    const random = randomStream(seed, "rivals");
    const normal = normalStream(random);
    const all = Array.from({ length: rows }, (_, r) => row(random, normal, r));
    const points = { data: Float64Array.from(all.flatMap(([at]) => at)), rows, cols: all[0][0].length };
    return { points, labels: Uint32Array.from(all, ([, label]) => label) };
  };
}

function paper(kind: PaperKind, rows: number): Scenario["draw"] {
  return (seed) => {
    const { datasets, labels } = paperData(kind, 1, rows, seed);
    return { points: datasets[0], labels: labels[0] };
  };
}

const times = (count: number, value: () => number) => Array.from({ length: count }, value);

/** side x side clusters, 10 apart. */
const grid = (side: number, rows: number) =>
  drawn(rows, (_, normal, r) => {
    const label = r % (side * side);
    return [[label % side, Math.floor(label / side)].map((x) => 10 * x + normal()), label];
  });

/** Classes are how far out a row is, so that skew deals the tail to few devices. */
const exponential = (cols: number, rows: number) =>
  drawn(rows, (random) => {
    const at = times(cols, () => -3 * Math.log(1 - random()));
    return [at, Math.min(4, Math.floor(at[0] / 2))];
  });

const lattice = (cols: number, side: number, rows: number) =>
  drawn(rows, (random) => {
    const at = times(cols, () => Math.floor(side * random()));
    return [at, at[0]];
  });

/** The first rows lie far away, each in a direction of its own. */
const outliers = (far: number, count: number, rows: number) =>
  drawn(rows, (_, normal, r) => {
    const at = [6 * (r % 3) + normal(), normal()];
    if (r < count) at[r % 2] += far * (r + 1);
    return [at, r < count ? 3 : r % 3];
  });

/** Clusters in the first columns, and noise in all. */
const wide = (cols: number, clusters: number, apart: number, rows: number) =>
  drawn(rows, (_, normal, r) => [
    Array.from({ length: cols }, (_, c) => normal() + (c === r % clusters ? apart : 0)),
    r % clusters,
  ]);

/** Clusters of 90, 8 and 2 %, the small ones tight. */
const unequalClusters = drawn(400, (_, normal, r) => {
  const label = r % 50 === 0 ? 2 : r % 12 === 0 ? 1 : 0;
  const width = [3, 0.5, 0.1][label];
  return [[width * normal() + 8 * label, width * normal()], label];
});

const duplicates = (different: number, rows: number) =>
  drawn(rows, (random) => {
    const label = Math.floor(different * random() ** 2);
    return [[(label * 7) % 11, (label * 5) % 13], label];
  });

const line = (rows: number, value: (random: Random, normal: Random, r: number) => number) =>
  drawn(rows, (random, normal, r) => [[value(random, normal, r)], r % 4]);

const heavyTail = drawn(300, (random, normal, r) => [
  [5 * (r % 4) + normal() / Math.sqrt(random() + 1e-3), normal() / Math.sqrt(random() + 1e-3)],
  r % 4,
]);

const rings = drawn(300, (random, normal, r) => {
  const radius = 3 * (1 + (r % 3)) + 0.2 * normal();
  const angle = 2 * Math.PI * random();
  return [[radius * Math.cos(angle), radius * Math.sin(angle)], r % 3];
});

const almostEmpty = [1, 1, 0, 2, 1, 0, 150, 145];

const scenario = (
  name: string,
  draw: Scenario["draw"],
  k: number,
  split: Scenario["split"],
  network: Scenario["network"] = random70,
  devices = 8,
): Scenario => ({ name, draw, k, split, network, devices: typeof split === "string" ? devices : split.length });

export const scenarios: readonly Scenario[] = [
  scenario("grid of 25, dirichlet:0.1, ring", grid(5, 300), 25, "dirichlet:0.1", ring),
  scenario("grid of 25, dirichlet:0.1, path", grid(5, 300), 25, "dirichlet:0.1", path),
  scenario("grid of 25, dirichlet:0.1, star", grid(5, 300), 25, "dirichlet:0.1", star),
  scenario("grid of 25, even", grid(5, 300), 25, "even"),
  scenario("grid of 9, classes:2, ring", grid(3, 270), 9, "classes:2", ring),
  scenario("exponential, even", exponential(2, 300), 5, "even"),
  scenario("exponential, sizes:20, ring", exponential(2, 300), 5, "sizes:20", ring),
  scenario("exponential, dirichlet:0.1, star", exponential(3, 300), 4, "dirichlet:0.1", star),
  scenario("exponential line", exponential(1, 300), 6, "even", path),
  scenario("lattice of 36, even", lattice(2, 6, 300), 8, "even"),
  scenario("lattice of 16, classes:1, ring", lattice(2, 4, 240), 5, "classes:1", ring),
  scenario("lattice of 27, dirichlet:0.1, path", lattice(3, 3, 240), 6, "dirichlet:0.1", path),
  scenario("outliers at 1e4, even", outliers(1e4, 3, 300), 5, "even"),
  scenario("outliers at 1e4, dirichlet:0.1", outliers(1e4, 3, 300), 5, "dirichlet:0.1"),
  scenario("one outlier at 1e7", outliers(1e7, 1, 300), 4, "even", ring),
  scenario("more outliers than clusters", outliers(300, 12, 300), 5, "even"),
  scenario("three rows a device, k = 3", paper("iso", 60), 3, "even", random70, 20),
  scenario("three rows a device, k = 5, ring", paper("var", 60), 5, "even", ring, 20),
  scenario("sizes:100, var", paper("var", 400), 3, "sizes:100"),
  scenario("sizes:1000, aniso, star", paper("aniso", 600), 3, "sizes:1000", star),
  scenario("duplicates of 12 rows", duplicates(12, 300), 5, "even", ring),
  scenario("duplicates of 30 rows, dirichlet:0.1", duplicates(30, 300), 8, "dirichlet:0.1"),
  scenario(
    "line, uniform",
    line(240, (random) => random()),
    6,
    "even",
    ring,
  ),
  scenario(
    "line, heavy tail",
    line(240, (random, normal) => normal() / Math.sqrt(random() + 1e-4)),
    5,
    "sizes:10",
  ),
  scenario("20 columns, even, ring", wide(20, 4, 6, 240), 4, "even", ring),
  scenario("20 columns, classes:1", wide(20, 4, 6, 240), 4, "classes:1"),
  scenario("64 columns, few rows, overlapping", wide(64, 6, 3, 160), 6, "dirichlet:0.3"),
  scenario("devices of 0, 1 and 2 rows", paper("var", 300), 3, almostEmpty, ring),
  scenario("devices of 0, 1 and 2 rows, k = 8", grid(3, 300), 8, almostEmpty),
  scenario("iso, classes:1, ring", paper("iso", 300), 3, "classes:1", ring),
  scenario("var, dirichlet:0.1, path", paper("var", 300), 3, "dirichlet:0.1", path),
  scenario("aniso, dirichlet:0.1, star", paper("aniso", 300), 3, "dirichlet:0.1", star),
  scenario("aniso in 7, sizes:10", paper("aniso", 300), 7, "sizes:10"),
  scenario("clusters of 90, 8 and 2 %", unequalClusters, 3, "even"),
  scenario("clusters of 90, 8 and 2 %, classes:1", unequalClusters, 3, "classes:1", ring),
  scenario("heavy tail", heavyTail, 5, "even", star),
  scenario("rings", rings, 6, "dirichlet:0.1", ring),
  scenario("one cluster", paper("var", 200), 1, "dirichlet:0.1", path),
];

/** Messages of every method: as many for each device as `fedkm compare` has by default. */
const MESSAGES = 200;

export function problemOf({ draw, k, split, devices, network }: Scenario, seed: number): ComparisonProblem {
  const all = draw(seed);
  const dealt: Partition =
    typeof split === "string" ? dealBy(parseDeal(split) as Split, all, devices, seed) : splitBySizes(all, split, seed);
  return { ...dealt, graph: network(devices, seed), k, alpha: 1, seed, messages: MESSAGES * devices };
}
