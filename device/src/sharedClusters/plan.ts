// The plan of shared clusters: which sums a stage asks of every device, as whole numbers, and what follows from the sums
// of all. Everything here is a function of its arguments, with the same bits on every device.

import { FROZEN_GENERATIONS } from "../wire/limits.ts";
import type { ClosedBoard } from "./board.ts";
import {
  type Content,
  type Generation,
  type GenerationEnd,
  type GenerationOutcome,
  hasCentroids,
  type Stage,
  stages,
} from "./generation.ts";
import { clusterIntegers, lloydStep } from "./lloyd.ts";
import { afterCells, afterCensus, afterOffsets, cellsOfRelease, census } from "./release.ts";
import { rosterOf } from "./roster.ts";
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
import { type LocalSums, nearest, type SumsShape, sumsBy } from "./shape.ts";

export function firstContent(shape: SumsShape): Content {
  const { start, d, releasing } = shape;
  if (releasing !== undefined) return census(1);
  const content = { steps: 0, rows: 0, seeded: 0 };
  if (start !== undefined) return { ...content, stage: stages.rows, numbers: start };
  if (d > GRID_FEATURES) return { ...content, stage: stages.moments, numbers: new Float64Array(0) };
  return { ...content, stage: stages.grid, numbers: wholeGrid(shape) };
}

/** How many numbers a generation of this stage starts from, and how many integers it asks of every device. */
export function sizesOf(shape: SumsShape, stage: Stage): { numbers: number; integers: number } {
  const { k, d, releasing } = shape;
  switch (stage) {
    case stages.census:
      return { numbers: 0, integers: 0 };
    case stages.cells:
      return { numbers: 0, integers: releasing === undefined ? 0 : cellsOfRelease(releasing) };
    case stages.frozen:
    case stages.rest:
      return { numbers: k * d, integers: 0 };
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

/** What a device with these rows adds, as whole numbers, before it is masked. Private rows are asked elsewhere. */
export function ownIntegers(shape: SumsShape, content: Content, own: LocalSums): Float64Array {
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
    default:
      return new Float64Array(0);
  }
}

/** What follows from a board that is closed. */
export function nextContent(
  shape: SumsShape,
  content: Content,
  { devices, count, totals }: ClosedBoard,
  linksOf: (id: string) => Iterable<string>,
): Content | GenerationEnd {
  const { roster, stage } = content;
  if (shape.releasing === undefined || roster === undefined || stage !== stages.census)
    return restOf(shape, content, outcomeOf(shape, content, totals, count));
  return afterCensus(shape.releasing, content, rosterOf(roster.version, devices, linksOf));
}

/** With sums over a tree only one device knows that nothing moves: it tells the others by a generation of its own. */
function restOf({ isTree }: SumsShape, content: Content, found: GenerationOutcome): GenerationOutcome {
  return isTree && found === "settled" && content.stage === stages.rows ? { ...content, stage: stages.rest } : found;
}

/** The number of the generation that follows: what is frozen is later than any census of devices that come afterwards. */
export function numberAfter({ number }: Generation, next: Content): number {
  return number + (next.stage === stages.frozen ? FROZEN_GENERATIONS : 1);
}

/** How a generation ends in which nothing is asked. */
export function endWithoutSums({ stage }: Content): GenerationEnd | undefined {
  return stage === stages.frozen || stage === stages.rest ? "settled" : undefined;
}

/** A network that has not settled after this many steps stays where it is: somebody may keep it moving. */
const MOST_STEPS = 1_000;

/** What follows when the integers of this many devices add up to these. */
export function outcomeOf(
  shape: SumsShape,
  content: Content,
  totals: Float64Array,
  devices: number,
): GenerationOutcome {
  const found = nextOf(shape, content, totals, devices);
  return typeof found !== "string" && found.steps > MOST_STEPS ? "settled" : found;
}

function nextOf(shape: SumsShape, content: Content, totals: Float64Array, devices: number): GenerationOutcome {
  const clusters = shape.isGuarded ? stages.cores : stages.rows;
  const { releasing } = shape;
  if (releasing !== undefined && content.stage === stages.cells)
    return afterCells(releasing, shape, content, totals, devices);
  if (releasing !== undefined && content.stage === stages.offsets)
    return afterOffsets(releasing, shape, content, totals);
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
    default:
      return "settled";
  }
}

/** Of a feature's range: enough to be other centroids, and too little to matter. */
const STIR = 2 ** -20;

/**
 * The same again a little aside, where something about the devices changed: no two sums are ever published for the same
 * centroids and other devices or rows. Seeds are begun again, and private devices counted again. `chance` is 32 bytes, others for every device and time.
 */
export function stirred(shape: SumsShape, content: Content, chance: Uint8Array): Content {
  const { d, ranges, start, isTree } = shape;
  if (content.roster !== undefined) return census(content.roster.version);
  const isSeeding = !hasCentroids(content.stage);
  const { numbers, ...rest } = isSeeding ? firstContent(shape) : content;
  if (isSeeding && start === undefined && d > GRID_FEATURES) {
    // Nobody knows how many rows there are yet. A tree has one top, so generations must differ by who opens them.
    return isTree
      ? { ...rest, rows: new DataView(chance.buffer, chance.byteOffset).getUint32(0), numbers }
      : { ...rest, numbers };
  }
  const moved = numbers.map((value, i) => {
    const range = ranges[i % d];
    const share = (chance[i % chance.length] - 127.5) / 127.5;
    return Math.min(range / 2, Math.max(-range / 2, value + share * STIR * range));
  });
  return { ...rest, stage: rest.stage === stages.rest ? stages.rows : rest.stage, steps: 0, numbers: moved };
}
