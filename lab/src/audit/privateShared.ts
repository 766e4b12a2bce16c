// What differential privacy costs under masks, and whether it holds there: how far the common answer of private devices
// is from the pooled one, and the noise that is left when colluders add none.

import { randomBytes } from "node:crypto";
import { globalCentroidDeviation, kmeans, type Matrix, paperData, stack } from "@fedkm/core";
import { parseStudy } from "@fedkm/device";
import {
  askedSums,
  type Content,
  census,
  outcomeOf,
  sharedReleaseIntegers,
  stages,
  sumsShape,
} from "@fedkm/device/shared";
import { isHeld, print, progress } from "../measure.ts";
import { median } from "../quality/problems.ts";
import { attackHeld, shownEpsilon } from "./private.ts";

const K = 3;
const DELTA = 1e-5;
/** No constant was chosen by networks of these seeds. */
const FIRST_SEED = 8001;
const EPSILONS = [0.5, 1];
/** Releases of each network: noise scatters more than networks do. */
const RELEASES = 4;
/** Fewer networks have a median that says little. */
const LEAST_JUDGED = 20;

/** Devices, rows of each, and the medians of a pilot of the same design for each epsilon. */
const cells: readonly (readonly [number, number, readonly number[]])[] = [
  [10, 100, [0.05, 0.019]],
  [10, 200, [0.018, 0.0032]],
  [10, 800, [0.001, 1.5e-4]],
  [100, 20, [0.016, 0.003]],
];

export function privateShared({ seeds, draws, runs }: { seeds: number; draws: number; runs: number }): boolean {
  return [utility(seeds), variances(draws), attack(runs)].every((isGood) => isGood);
}

interface Sizes {
  readonly devices: number;
  readonly rows: number;
  readonly epsilon: number;
}

function shapeFor({ devices, rows, epsilon }: Sizes) {
  const feature = { unit: "", min: -13, max: 13 };
  const features = [
    { name: "x", ...feature },
    { name: "y", ...feature },
  ];
  const sizes = { k: K, devices, typicalRows: rows, epsilon, delta: DELTA };
  const shape = sumsShape(
    parseStudy(JSON.stringify({ name: "private", clusters: "shared", privacy: "private", features, ...sizes })),
  );
  const { releasing } = shape;
  if (releasing === undefined) throw new Error("a private study must have releases");
  return { shape, releasing };
}

/** The first round of so many devices. */
function firstRoundOf(devices: number): Content {
  const ids = Array.from({ length: devices }, (_, i) => String(i));
  return { ...census(1), stage: stages.release, roster: { version: 1, ids, links: new Uint8Array(0) } };
}

/** What the devices' boards come to, without their masks. */
function answerOf(datasets: readonly Matrix[], sizes: Sizes): Matrix {
  const { shape, releasing } = shapeFor(sizes);
  let content = firstRoundOf(datasets.length);
  while (content.stage !== stages.frozen) {
    const posted = datasets.map((own) => sharedReleaseIntegers(releasing, content, own, randomBytes));
    const totals = posted[0].map((_, i) => posted.reduce((sum, own) => sum + own[i], 0));
    const next = outcomeOf(shape, content, totals, datasets.length);
    if (typeof next === "string") throw new Error(`a release must lead on, got ${next}`);
    content = next;
  }
  return { data: content.numbers, rows: K, cols: 2 };
}

function utility(seeds: number): boolean {
  const rows = cells.map(([devices, points, pilot]) => {
    const problems = Array.from({ length: seeds }, (_, s) => {
      const { datasets } = paperData("iso", devices, points, FIRST_SEED + s);
      return { datasets, reference: kmeans(stack(datasets), { k: K, restarts: 20, seed: s }).centroids };
    });
    const deviation = (found: readonly Matrix[], reference: Matrix) => globalCentroidDeviation(found, reference);
    const alone = problems.map(({ datasets, reference }) =>
      deviation(
        datasets.map((own) => kmeans(own, { k: K }).centroids),
        reference,
      ),
    );
    const found = EPSILONS.map((epsilon) => {
      progress(`private and shared, ${devices} devices of ${points} rows, epsilon ${epsilon}`);
      return problems.flatMap(({ datasets, reference }) =>
        Array.from({ length: RELEASES }, () =>
          deviation([answerOf(datasets, { devices, rows: points, epsilon })], reference),
        ),
      );
    });
    return { devices, points, pilot, alone: median(alone), found };
  });
  progress("");
  print(
    `Private and shared, iso, delta ${DELTA}: GCD, median (worst) of ${seeds} networks, each released ${RELEASES} times; alone is without noise`,
    [
      ["devices", "rows of each", "alone", ...EPSILONS.map((epsilon) => `epsilon ${epsilon}`), "pilot"],
      ...rows.map(({ devices, points, pilot, alone, found }) => [
        String(devices),
        String(points),
        alone.toPrecision(2),
        ...found.map((values) => `${median(values).toPrecision(2)} (${Math.max(...values).toPrecision(2)})`),
        pilot.join(", "),
      ]),
    ],
  );
  if (seeds < LEAST_JUDGED) return true;
  // Against the pilot from above only: less is better.
  const missed = rows.flatMap(({ devices, points, pilot, found }) =>
    found.flatMap((values, e) =>
      median(values) <= 1.3 * pilot[e]
        ? []
        : [`${devices} x ${points} epsilon ${EPSILONS[e]}: ${median(values).toPrecision(2)}`],
    ),
  );
  return isHeld("at most 1.3 times the pilot", missed);
}

/** The smallest network in which one of the devices may collude. */
const FEW = { devices: 4, rows: 8, epsilon: 1 };
const NO_ROWS: Matrix = { data: new Float64Array(0), rows: 0, cols: 2 };

/** What all rounds of a study ask, in order, after what public rows without noise would have shown. */
function releasesOf(sizes: Sizes) {
  const { shape, releasing } = shapeFor(sizes);
  const shown = paperData("iso", 1, 200, 2).datasets[0];
  const contents: Content[] = [];
  for (let content = firstRoundOf(sizes.devices); content.stage !== stages.frozen; ) {
    contents.push(content);
    const totals = Float64Array.from(askedSums(releasing, content, shown).flatMap(({ values }) => Array.from(values)));
    const next = outcomeOf(shape, content, totals, sizes.devices);
    if (typeof next === "string") throw new Error(`a round must lead on, got ${next}`);
    content = next;
  }
  return {
    rounds: releasing.rounds.map(({ name }) => name),
    asked: (points: Matrix) => contents.map((content) => askedSums(releasing, content, points)),
    /** The sums of `points` and of devices without rows, but for a colluder, who adds no noise. */
    seen: (points: Matrix) =>
      contents.map((content) => {
        const shares = Array.from({ length: sizes.devices - 1 }, (_, i) =>
          sharedReleaseIntegers(releasing, content, i === 0 ? points : NO_ROWS, randomBytes),
        );
        return Array.from(shares[0], (_, i) => shares.reduce((sum, share) => sum + share[i], 0));
      }),
  };
}

function variances(draws: number): boolean {
  const { rounds, asked, seen } = releasesOf(FEW);
  // Of every number: what its noise should be.
  const paid = asked(NO_ROWS).map((parts) =>
    parts.flatMap(({ values, variance }) => Array.from(values, () => variance)),
  );
  const many = paid.reduce((sum, own) => sum + own.length, 0);
  const times = Math.ceil(draws / (3 * many));
  const sums = paid.map(() => 0);
  progress(`${draws} shares of noise`);
  for (let n = 0; n < times; n++) {
    seen(NO_ROWS).forEach((values, r) => {
      values.forEach((value, i) => {
        sums[r] += value ** 2 / paid[r][i];
      });
    });
  }
  progress("");
  const found = paid.map((own, r) => sums[r] / times / own.length);
  print(`Noise of three honest devices of four against noise paid for, ${draws} shares`, [
    ["round", "variance, as a share of what is paid for"],
    ...rounds.map((name, r) => [name, found[r].toFixed(4)]),
  ]);
  const bar = (r: number) => Math.max(0.01, 4 * Math.sqrt(2 / (times * paid[r].length)));
  const missed = found.filter((share, r) => Math.abs(share - 1) > bar(r)).map((share) => share.toFixed(4));
  return isHeld("within 1 %, or four deviations where fewer were drawn", missed);
}

function attack(runs: number): boolean {
  const without = paperData("iso", 1, 20, 1).datasets[0];
  // Far from every centroid, so that it changes the sums as much as a row can.
  const row: Matrix = { data: Float64Array.of(12.5, 12.5), rows: 1, cols: 2 };
  const sides = [without, stack([without, row])] as const;
  const title = `A colluder knows all rows but one and adds no noise, ${runs} releases with it and ${runs} without`;
  return attackHeld(title, (epsilon) => {
    const { asked, seen } = releasesOf({ ...FEW, epsilon });
    const [known, changed] = sides.map((points) =>
      asked(points)
        .flat()
        .flatMap(({ values, variance }) => Array.from(values, (value) => ({ value, variance }))),
    );
    const ratioOf = (points: Matrix) =>
      seen(points)
        .flat()
        .reduce((ratio, value, i) => {
          const step = changed[i].value - known[i].value;
          return ratio + (step * (value - known[i].value - step / 2)) / known[i].variance;
        }, 0);
    progress(`${runs} masked releases with a row and without, epsilon ${epsilon}`);
    const [absent, present] = sides.map((points) => Array.from({ length: runs }, () => ratioOf(points)));
    progress("");
    return shownEpsilon(absent, present, DELTA);
  });
}
