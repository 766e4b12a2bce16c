// Random problems for the property tests: everything follows from one integer.

import { erdosRenyi, type Graph, graph, type Matrix, normalStream, type Random, randomStream } from "@fedkm/core";
import fc from "fast-check";
import { testSeed } from "../../test/runs.ts";

export interface Problem {
  readonly random: Random;
  readonly datasets: Matrix[];
  readonly network: Graph;
  readonly init: Matrix[];
  readonly k: number;
  readonly cols: number;
  readonly alpha: number;
}

export const integerFrom = (random: Random, low: number, high: number) => low + Math.floor(random() * (high - low + 1));

export function pickFrom<T>(random: Random, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)];
}

export function randomMatrix(random: Random, rows: number, cols: number, spread = 5): Matrix {
  const normal = normalStream(random);
  return { data: Float64Array.from({ length: rows * cols }, () => spread * normal()), rows, cols };
}

/** Unequal sizes, empty devices, isolated ones, weighted edges, starts among the points or far from them. */
function randomProblem(seed: number): Problem {
  const random = randomStream(seed, "problem");
  const size = integerFrom(random, 1, 8);
  const k = integerFrom(random, 1, 5);
  const cols = integerFrom(random, 1, 4);
  const datasets = Array.from({ length: size }, () =>
    randomMatrix(random, random() < 0.1 ? 0 : integerFrom(random, 1, 40), cols),
  );
  if (datasets.every(({ rows }) => rows === 0)) datasets[0] = randomMatrix(random, 6, cols);
  const drawn = erdosRenyi(size, pickFrom(random, [0.2, 0.5, 0.8, 1]), random);
  const links = drawn.neighbours.flatMap((row, i) =>
    Array.from(row)
      .filter((j) => i < j)
      .map((j) => [i, j, random() < 0.5 ? 1 : 0.1 + 3 * random()] as const),
  );
  return {
    random,
    datasets,
    network: graph(size, links),
    init: datasets.map(() => randomMatrix(random, k, cols, pickFrom(random, [1, 5, 20]))),
    k,
    cols,
    alpha: 10 ** (4 * random() - 2),
  };
}

/** Checks the property on `runs` problems; a failure names the problem's seed. */
export function forAllProblems(name: string, runs: number, property: (problem: Problem) => void): void {
  console.log(`${name}: ${runs} problems, seed ${testSeed}`);
  fc.assert(
    fc.property(fc.integer(), (seed) => property(randomProblem(seed))),
    { numRuns: runs, seed: testSeed },
  );
}

/** The same for a property that waits. */
export async function forAllProblemsLater(
  name: string,
  runs: number,
  property: (problem: Problem) => Promise<void>,
): Promise<void> {
  console.log(`${name}: ${runs} problems, seed ${testSeed}`);
  await fc.assert(
    fc.asyncProperty(fc.integer(), (seed) => property(randomProblem(seed))),
    { numRuns: runs, seed: testSeed },
  );
}
