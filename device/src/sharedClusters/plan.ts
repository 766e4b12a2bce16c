// The plan of shared clusters: which sums a stage asks of every device, as whole numbers, and what follows from the sums
// of all. Everything here is a function of its arguments, with the same bits on every device.

import type { ClosedBoard } from "./board.ts";
import { type Content, type GenerationEnd, type GenerationOutcome, hasCentroids, stages } from "./generation.ts";
import { clusterIntegers, lloydStep, sharedMeansAtRest } from "./lloyd.ts";
import { sumsFault } from "./plausible.ts";
import { afterCensus, afterRound, census, releaseSizes } from "./release.ts";
import { emptyRoster, rosterOf } from "./roster.ts";
import {
  afterGrid,
  afterMeans,
  afterMoments,
  cellsIn,
  GRID_FEATURES,
  gridNumbers,
  meansIntegers,
  meansNumbers,
  momentIntegers,
  momentsIn,
  sharedGridIntegers,
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

/**
 * How many numbers a generation of this stage starts from, and how many integers it asks of every device. Those of a private
 * release follow from its numbers.
 */
export function sizesOf(
  shape: SumsShape,
  content: Pick<Content, "stage" | "steps"> & Partial<Pick<Content, "numbers">>,
): { numbers: number; integers: number } {
  const { k, d, releasing } = shape;
  const { stage } = content;
  if (releasing !== undefined) return releaseSizes(releasing, content);
  switch (stage) {
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
      return sharedGridIntegers(shape, content.numbers, own.seed());
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
  mostRows = Number.POSITIVE_INFINITY,
): Content | "implausible" {
  const { roster, stage } = content;
  if (shape.releasing !== undefined && roster !== undefined && stage === stages.census)
    return afterCensus(shape.releasing, content, rosterOf(roster.version, devices, linksOf));
  // All entries are there, and sealed.
  if (isSealed(content)) return { ...content, stage: stages.keys };
  const found = outcomeOf(shape, content, totals, count, mostRows);
  return found === "settled" ? atRest(shape, content, totals) : found;
}

/** Whether what is posted in this stage stays sealed until all have it. */
export const isSealed = ({ stage }: Content) => stage === stages.release;

/** Nothing moves: the answer, or no clusters where there are no rows. */
function atRest(shape: SumsShape, content: Content, totals: Float64Array): Content {
  const { k, d } = shape;
  const hasRows = content.stage === stages.rows;
  const rows = hasRows ? totals.subarray(0, k).reduce((sum, count) => sum + count, 0) : 0;
  const numbers = hasRows ? sharedMeansAtRest(shape, content, totals) : new Float64Array(k * d);
  return { ...content, stage: stages.rest, rows, numbers };
}

/** How a generation ends in which nothing is asked. */
export function endWithoutSums({ stage, roster }: Content): GenerationEnd | undefined {
  if (stage === stages.rest) return roster === undefined ? "settled" : "few";
  return stage === stages.frozen ? "settled" : undefined;
}

/** A network that has not settled after this many steps stays where it is: somebody may keep it moving. */
const MOST_STEPS = 1_000;

/** What follows when the integers of this many devices, which may hold so many rows, add up to these. */
export function outcomeOf(
  shape: SumsShape,
  content: Content,
  totals: Float64Array,
  devices: number,
  mostRows = Number.POSITIVE_INFINITY,
): GenerationOutcome {
  if (sumsFault(shape, content, totals, devices, mostRows) !== undefined) return "implausible";
  const found = nextOf(shape, content, totals, devices);
  return typeof found !== "string" && found.steps > MOST_STEPS ? "settled" : found;
}

function nextOf(shape: SumsShape, content: Content, totals: Float64Array, devices: number): GenerationOutcome {
  const clusters = shape.isGuarded ? stages.cores : stages.rows;
  const { releasing } = shape;
  if (releasing !== undefined) return afterRound(releasing, content, totals, devices);
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
 * centroids and other devices or rows. What has no centroids yet begins anew, as all does after a `restart`; private
 * devices are counted again, for another answer if there is one. What is known of earlier rounds stays, and sums that are
 * complete are read. `chance` is 32 bytes, others for every base and openings.
 */
export function stirred(shape: SumsShape, content: Content, chance: Uint8Array, isRestart: boolean): Content {
  const { d, ranges } = shape;
  const { roster, stage } = content;
  if (roster !== undefined) {
    if (stage === stages.keys) return content;
    if (stage !== stages.frozen) return { ...content, stage: stages.census, roster: emptyRoster(roster.version) };
    return isRestart ? census(roster.version + 1) : content;
  }
  const isAnew = isRestart || !hasCentroids(content);
  const { numbers, ...rest } = isAnew ? firstContent(shape) : content;
  const moved = numbers.map((value, i) => {
    const range = ranges[i % d];
    const share = (chance[i % chance.length] - 127.5) / 127.5;
    return Math.min(range / 2, Math.max(-range / 2, value + share * STIR * range));
  });
  return { ...rest, stage: rest.stage === stages.rest ? stages.rows : rest.stage, steps: 0, numbers: moved };
}
