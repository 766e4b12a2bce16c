import {
  edges,
  erdosRenyi,
  graph,
  type Matrix,
  matchCentroids,
  matrix,
  paperData,
  randomStream,
  ring,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { numberedOpeningStart, sketchNumberedLike } from "../../src/loop/numbering.ts";
import { type Simulation, simulate } from "../../src/simulation/simulate.ts";
import type { DeviceSketch } from "../../src/wire/studyFrames.ts";
import { type Problem, problem } from "../problem.ts";

const HOUR = 3_600_000;
const everybody = Array.from({ length: 11 }, (_, i) => i);
const ten = everybody.slice(0, 10);
const kinds = ["iso", "var", "aniso"] as const;

function isNumberedAlike(a: Matrix, b: Matrix): boolean {
  return matchCentroids(a, b).every((other, own) => other === own);
}

/** Of the pairs of these devices, the share whose counterparts have equal numbers. */
function shareAlike(network: Simulation, members: readonly number[]): number {
  const centroids = network.centroids();
  const pairs = members.flatMap((i) => members.filter((j) => j < i).map((j) => [i, j]));
  return pairs.filter(([i, j]) => isNumberedAlike(centroids[i], centroids[j])).length / pairs.length;
}

/** Ten devices on a ring with chords, and an eleventh that is linked but not there. */
function tenAndOne(given: Problem) {
  const chords = Array.from(edges(given.graph), ([i, j]) => [i, j] as const);
  const around = Array.from(edges(ring(11)), ([i, j]) => [i, j] as const);
  const whole = graph(
    11,
    [...around, ...chords].filter(([i, j], n, all) => all.findIndex(([a, b]) => a === i && b === j) === n),
  );
  const linksOf = (gone: number) =>
    whole.neighbours.map((others, i) => (i === gone ? [] : Array.from(others).filter((j) => j !== gone)));
  const network = simulate({ ...given, graph: whole, links: linksOf(10), absent: [10] });
  const settle = () => {
    network.run(1_000);
    expect(network.settle(HOUR)).toBe(true);
  };
  const link = (gone = -1) => {
    for (const [i, others] of linksOf(gone).entries()) network.setLinks(i, others);
  };
  settle();
  return { network, settle, link };
}

describe("the clusters of a settled network", () => {
  it.each(kinds)(
    "have the same numbers on every device, and keep them over restart, join, reset and leave: %s",
    async (kind) => {
      const given = await problem(kind, erdosRenyi(11, 0.3, randomStream(2, "graph")), 2);
      const { network, settle, link } = tenAndOne(given);
      expect(shareAlike(network, ten)).toBe(1);
      const first = network.centroids();
      const holds = (members: readonly number[]) => {
        settle();
        expect(shareAlike(network, members)).toBe(1);
        for (const i of members.filter((member) => member < 10)) {
          expect(isNumberedAlike(network.centroids()[i], first[i])).toBe(true);
        }
      };
      network.crash(3);
      network.forget(3);
      network.restart(3);
      holds(ten);
      link();
      network.restart(10);
      holds(everybody);
      network.reset(2);
      holds(everybody);
      network.crash(7);
      link(7);
      holds(everybody.filter((i) => i !== 7));
    },
  );

  it("have the same numbers where two communities hold different data", async () => {
    const given = await problem("iso", erdosRenyi(11, 0.3, randomStream(5, "graph")), 5);
    const others = paperData("iso", 11, 100, 500).datasets;
    const datasets = given.datasets.map((own, i) => (i % 2 === 0 ? own : others[i]));
    const { network } = tenAndOne({ ...given, datasets });
    expect(shareAlike(network, ten)).toBe(1);
  });
});

describe("numberedStart(start, sketches)", () => {
  const sketch = (origin: number, ...rows: number[][]): DeviceSketch => ({
    origin,
    version: 1,
    shares: Uint8Array.from(rows, (row) => (row.length > 0 ? 100 : 0)),
    centroids: Float64Array.from(rows.flatMap((row) => (row.length > 0 ? row : [0, 0]))),
  });
  const [a, b, c] = [
    [0, 0],
    [10, 0],
    [0, 10],
  ];
  const start = matrix([a, c, b]);

  it("has the order of most sketches, in whatever order they came", () => {
    const sketches = [sketch(1, b, c, a), sketch(2, a, b, c), sketch(3, b, c, a)];
    expect(numberedOpeningStart(start, sketches)).toEqual(matrix([b, c, a]));
    expect(numberedOpeningStart(start, [...sketches].reverse())).toEqual(matrix([b, c, a]));
  });

  it("has a place for a cluster that no sketch has", () => {
    expect(numberedOpeningStart(start, [sketch(1, c, [], a)])).toEqual(matrix([c, b, a]));
  });

  it("is what sketchLike puts a sketch in the order of, once", () => {
    const [first, second] = [sketch(1, a, b, c), matrix([c, a, b])];
    const found = sketchNumberedLike(first, second);
    expect(found).toEqual({ ...sketch(1, c, a, b), version: 2 });
    expect(sketchNumberedLike(found, second)).toBe(found);
    expect(sketchNumberedLike(sketch(1, a, [], c), second)).toEqual(sketch(1, a, [], c));
  });
});
