// What medians over groups of devices would do in place of books: sums are masked within each of three groups, and a centroid
// goes to the median of the groups' means. Plain k-means beside it, without and with a member that claims its limit of rows in
// the worst corner. No bar: figures for a decision.

import { distortion, kmeans, type Matrix, predict, randomStream, splitByLabel, stack } from "@fedkm/core";
import { middleOf, print } from "../measure.ts";
import { blobs } from "../quality/hard.ts";
import { sharedProblem } from "./sharedNetwork.ts";

/** Masks hide a device among three at the least where one may collude. */
const GROUPS: readonly (readonly number[])[] = [
  [0, 1, 2],
  [3, 4, 5],
  [6, 7, 8, 9],
];
const MOST_ROWS = 120;
const MOST_STEPS = 100;

interface Counted {
  readonly counts: Float64Array;
  readonly sums: Float64Array;
}

function countedRows(centroids: Matrix, rows: Matrix): Counted {
  const { rows: k, cols } = centroids;
  const counted = { counts: new Float64Array(k), sums: new Float64Array(k * cols) };
  for (const [r, c] of predict(centroids, rows).entries()) {
    counted.counts[c]++;
    for (let f = 0; f < cols; f++) counted.sums[c * cols + f] += rows.data[r * cols + f];
  }
  return counted;
}

const totalOf = (parts: readonly Counted[]): Counted =>
  parts.reduce((all, { counts, sums }) => ({
    counts: all.counts.map((count, i) => count + counts[i]),
    sums: all.sums.map((sum, i) => sum + sums[i]),
  }));

/** Lloyd's steps by the medians of groups' means; one group is k-means. `claims`: rows in a corner, with the first device. */
function answerOf(
  start: Matrix,
  devices: readonly Matrix[],
  groups: typeof GROUPS,
  claims: Matrix | undefined,
): Matrix {
  let centroids = start;
  const { rows: k, cols } = start;
  for (let step = 0; step < MOST_STEPS; step++) {
    const at = centroids;
    const totals = groups.map((members) =>
      totalOf(members.map((i) => countedRows(at, i === 0 && claims !== undefined ? claims : devices[i]))),
    );
    const data = Float64Array.from({ length: k * cols }, (_, i) => {
      const c = Math.floor(i / cols);
      const means = totals.flatMap(({ counts, sums }) => (counts[c] > 0 ? sums[i] / counts[c] : []));
      return means.length > 0 ? middleOf(means) : at.data[i];
    });
    if (data.every((value, i) => value === at.data[i])) break;
    centroids = { data, rows: k, cols };
  }
  return centroids;
}

const splits: readonly { readonly kind: string; readonly k: number; devicesOf(seed: number): readonly Matrix[] }[] = [
  { kind: "alike, k 3", k: 3, devicesOf: (seed) => sharedProblem("iso", seed).datasets },
  {
    kind: "skewed, k 3",
    k: 3,
    devicesOf: (seed) => splitByLabel(blobs(3, 1_000, 1, 2, seed), 10, 0.2, seed).datasets,
  },
  { kind: "skewed, k 15", k: 15, devicesOf: (seed) => sharedProblem("skewed", seed).datasets },
];

export async function groupsCompared({ seeds }: { seeds: number }): Promise<boolean> {
  const rows = [
    ["rows of devices", "networks", "sums of all", "medians of groups", "one claims: sums", "one claims: medians"],
  ];
  for (const { kind, k, devicesOf } of splits) {
    const found: number[][] = [];
    for (let seed = 6_001; seed < 6_001 + seeds; seed++) {
      const devices = devicesOf(seed);
      const honest = devices.slice(1);
      const best = kmeans(stack(devices), { k, restarts: 10, seed });
      const reach = 1.5 * stack(devices).data.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      const random = randomStream(seed, "corner");
      const corner = [random(), random()].map((at) => (at < 0.5 ? -reach : reach));
      const claims = {
        data: Float64Array.from({ length: 2 * MOST_ROWS }, (_, i) => corner[i % 2]),
        rows: MOST_ROWS,
        cols: 2,
      };
      const cost = (centroids: Matrix) =>
        distortion(
          honest,
          honest.map(() => centroids),
        );
      const alone = cost(kmeans(stack(honest), { k, restarts: 10, seed }).centroids);
      const whole = [devices.map((_, i) => i)];
      const ways = [
        [whole, undefined],
        [GROUPS, undefined],
        [whole, claims],
        [GROUPS, claims],
      ] as const;
      found.push(ways.map(([groups, claimed]) => cost(answerOf(best.centroids, devices, groups, claimed)) / alone));
    }
    const cells = found[0].map((_, way) => {
      const costs = found.map((one) => one[way]).sort((a, b) => a - b);
      return `${middleOf(costs).toFixed(3)} (most ${costs[costs.length - 1].toFixed(2)})`;
    });
    rows.push([kind, String(seeds), ...cells]);
  }
  print(`Cost of honest rows over their own best, ten devices, ${MOST_ROWS} rows claimed`, rows);
  return true;
}
