// The plan of shared clusters: which sums a stage asks of every device, as whole numbers, and what follows from the sums
// of all. Everything here is a function of its arguments, with the same bits on every device.

import { type Content, type Stage, stages } from "./generation.ts";
import { clusterIntegers, lloydStep } from "./lloyd.ts";
import {
  afterGrid,
  afterMeans,
  afterMoments,
  cellsIn,
  GRID_FEATURES,
  gridIntegers,
  gridNumbers,
  meansIntegers,
  meansNumbers,
  momentIntegers,
  momentsIn,
  wholeGrid,
} from "./seed.ts";
import { nearest, type Own, type Shape, sumsBy } from "./shape.ts";

export function firstContent(shape: Shape): Content {
  const { start, d } = shape;
  const content = { steps: 0, rows: 0, seeded: 0 };
  if (start !== undefined) return { ...content, stage: stages.rows, numbers: start };
  if (d > GRID_FEATURES) return { ...content, stage: stages.moments, numbers: new Float64Array(0) };
  return { ...content, stage: stages.grid, numbers: wholeGrid(shape) };
}

/** How many numbers a generation of this stage starts from, and how many integers it asks of every device. */
export function sizesOf(shape: Shape, stage: Stage): { numbers: number; integers: number } {
  const { k, d } = shape;
  switch (stage) {
    case stages.moments:
      return { numbers: 0, integers: momentsIn(shape) };
    case stages.grid:
      return { numbers: gridNumbers(shape), integers: cellsIn(shape) };
    case stages.means:
      return { numbers: meansNumbers(shape), integers: k * (d + 1) };
    default:
      return { numbers: k * d, integers: k * (d + 1) };
  }
}

/** What a device with these rows adds, as whole numbers, before it is masked. */
export function ownIntegers(shape: Shape, content: Content, own: Own): Float64Array {
  switch (content.stage) {
    case stages.moments:
      return momentIntegers(shape, own.seed());
    case stages.grid:
      return gridIntegers(shape, content.numbers, own.seed());
    case stages.means:
      return meansIntegers(shape, content, own.seed());
    case stages.cores: {
      const { numbers } = content;
      return clusterIntegers(
        shape,
        content,
        sumsBy(own.seed(), shape.k, (point) => nearest(point, numbers)),
      );
    }
    case stages.rows:
      return clusterIntegers(shape, content, own.at(content.numbers));
  }
}

/**
 * What follows when the integers of this many devices add up to these. "settled": nothing moves any more.
 * "implausible": no rows within the study's bounds have such sums, so somebody's are not of rows.
 */
export type Outcome = Content | "settled" | "implausible";

/** A network that has not settled after this many steps stays where it is: somebody may keep it moving. */
const MOST_STEPS = 1_000;

export function outcomeOf(shape: Shape, content: Content, totals: Float64Array, devices: number): Outcome {
  const found = nextOf(shape, content, totals, devices);
  return typeof found !== "string" && found.steps > MOST_STEPS ? "settled" : found;
}

function nextOf(shape: Shape, content: Content, totals: Float64Array, devices: number): Outcome {
  const clusters = shape.isGuarded ? stages.cores : stages.rows;
  switch (content.stage) {
    case stages.moments:
      return afterMoments(shape, content, totals);
    case stages.grid:
      return afterGrid(shape, content, totals, shape.d > GRID_FEATURES ? stages.means : clusters);
    case stages.means:
      return afterMeans(shape, content, totals, clusters);
    case stages.cores: {
      const found = lloydStep(shape, content, totals, devices);
      return found === "settled" ? { ...content, stage: stages.rows, steps: content.steps + 1 } : found;
    }
    case stages.rows: {
      const found = lloydStep(shape, content, totals, devices);
      if (typeof found === "string" || shape.start !== undefined) return found;
      const seeded = content.seeded > 0 ? content.seeded : found.rows;
      // Devices that came later may have other clusters.
      return found.rows > 2 * seeded ? { ...firstContent(shape), steps: found.steps } : { ...found, seeded };
    }
  }
}

/** Of a feature's range: enough to be other centroids, and too little to matter. */
const STIR = 2 ** -20;

/**
 * The same again a little aside, where something about the devices changed: no two sums are ever published for the same
 * centroids and other devices or rows. Seeds are begun again. `chance` is 32 bytes, others for every device and time.
 */
export function stirred(shape: Shape, content: Content, chance: Uint8Array): Content {
  const { d, ranges, start } = shape;
  const isSeeding = content.stage < stages.cores;
  const { numbers, ...rest } = isSeeding ? firstContent(shape) : content;
  if (isSeeding && start === undefined && d > GRID_FEATURES) return { ...rest, numbers };
  const moved = numbers.map((value, i) => {
    const range = ranges[i % d];
    const share = (chance[i % chance.length] - 127.5) / 127.5;
    return Math.min(range / 2, Math.max(-range / 2, value + share * STIR * range));
  });
  return { ...rest, steps: 0, numbers: moved };
}
