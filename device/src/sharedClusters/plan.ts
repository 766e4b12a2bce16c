// The plan of shared clusters: which sums a stage asks of every device, as whole numbers, and what follows from the sums
// of all. Everything here is a function of its arguments, with the same bits on every device.

import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import type { ClosedBoard } from "./board.ts";
import { afterChoice, choiceIntegersIn, choiceNumbers, ownChoiceIntegers } from "./choice.ts";
import {
  afterDescription,
  descriptionIntegerCount,
  descriptionIntegers,
  descriptionNumbers,
  firstDescription,
} from "./description.ts";
import { type Content, type GenerationEnd, type GenerationOutcome, stages } from "./generation.ts";
import { clusterIntegers, lloydStep, sharedMeansAtRest } from "./lloyd.ts";
import { sumsFault } from "./plausible.ts";
import { afterCensus, afterRound, census, releaseSizes } from "./release.ts";
import { emptyRoster, rosterOf } from "./roster.ts";
import {
  afterCodebook,
  afterGrid,
  afterMeans,
  afterMoments,
  allCells,
  cellsIn,
  codebookCells,
  codebookIntegers,
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
import {
  afterValidation,
  answerNumbers,
  validationIntegers,
  validationIntegersIn,
  validationNumbers,
} from "./validation.ts";

const nothingKnown = { steps: 0, rows: 0, seeded: 0 };

/** Where clusters begin: with who is there. In a tree nobody learns that. */
export function firstContent(shape: SumsShape): Content {
  if (shape.releasing !== undefined) return census(1);
  if (shape.describing !== undefined) return { ...nothingKnown, stage: stages.describe, numbers: firstDescription() };
  if (shape.isTree) return startOf(shape);
  return { ...nothingKnown, stage: stages.census, numbers: new Float64Array(0) };
}

/** The first question about rows. */
function startOf(shape: SumsShape): Content {
  const { start, d } = shape;
  if (start !== undefined) return { ...nothingKnown, stage: stages.rows, numbers: start };
  if (d > GRID_FEATURES) return { ...nothingKnown, stage: stages.moments, numbers: new Float64Array(0) };
  return { ...nothingKnown, stage: stages.grid, numbers: wholeGrid(shape) };
}

/**
 * What follows when these devices are there, whose marks of their rows add up to `mark`. It is a little aside of where others
 * begin: the same devices with the same rows always begin at the same place, whatever they did before, and no others do.
 */
function startOfDevices(shape: SumsShape, devices: readonly string[], mark: number): Content {
  const start = startOf(shape);
  const chance = sha256(utf8ToBytes(`fedkm start\n${[...devices].sort().join(" ")}\n${mark}`));
  return { ...start, numbers: aside(shape, start.numbers, chance) };
}

type Head = Pick<Content, "stage" | "steps" | "rows" | "numbers">;

/** How many numbers a generation starts from, of which the first may be known, and say it. */
export function numbersIn(shape: SumsShape, { stage, steps, rows, numbers }: Head): number {
  if (shape.describing !== undefined) return descriptionNumbers(numbers);
  if (shape.releasing !== undefined) return releaseSizes(shape.releasing, { stage, steps }).numbers;
  if (stage === stages.validate) return validationNumbers(shape, { steps, rows });
  if (isChoice(stage)) return choiceNumbers(shape, { stage, steps, rows }, numbers);
  return sizesOf(shape, { stage, rows }).numbers;
}

/** Where k is looked for, or found. */
const isChoice = (stage: Content["stage"]) => stage >= stages.approved && stage <= stages.chosen;

/** How many integers it asks of every device. Those of releases and descriptions follow from the numbers. */
export function integersIn(shape: SumsShape, content: Head): number {
  const { releasing, describing } = shape;
  if (releasing !== undefined) return releaseSizes(releasing, content).integers;
  if (describing !== undefined)
    return content.stage === stages.describe ? descriptionIntegerCount(describing, content) : 0;
  if (content.stage === stages.validate) return validationIntegersIn(shape, content);
  return isChoice(content.stage) ? choiceIntegersIn(shape, content) : sizesOf(shape, content).integers;
}

function sizesOf(
  shape: SumsShape,
  { stage, rows }: Pick<Head, "stage" | "rows">,
): { numbers: number; integers: number } {
  const { k, d } = shape;
  const cells = codebookCells(shape, rows);
  switch (stage) {
    case stages.rest:
      return { numbers: answerNumbers(shape), integers: 0 };
    case stages.census:
      return { numbers: 0, integers: 1 };
    case stages.moments:
      return { numbers: 0, integers: momentsIn(shape) };
    case stages.grid:
      return { numbers: gridNumbers(shape), integers: cellsIn(shape) };
    case stages.means:
      return { numbers: meansNumbers(shape, rows), integers: cells * (d + 1) };
    case stages.codebook:
      return { numbers: allCells(shape, rows) * d, integers: allCells(shape, rows) * (d + 1) };
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
    case stages.codebook:
      return codebookIntegers(shape, content, own.seed());
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
    case stages.describe:
      return shape.describing === undefined
        ? new Float64Array(0)
        : descriptionIntegers(shape.describing, content, own.table());
    case stages.validate:
      return validationIntegers(shape, content, own.rows(), (replicates) => own.weights(replicates));
    case stages.choose:
      return ownChoiceIntegers(shape, content, own.seed());
    case stages.census:
      return Float64Array.of(own.mark());
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
  if (shape.releasing === undefined && stage === stages.census) return startOfDevices(shape, devices, totals[0]);
  // All entries are there, and sealed.
  if (isSealed(content)) return { ...content, stage: stages.keys };
  const found = outcomeOf(shape, content, totals, count, mostRows);
  return found === "settled" ? atRest(shape, content, totals) : found;
}

/** Whether what is posted in this stage stays sealed until all have it. */
export const isSealed = ({ stage }: Content) => stage === stages.release;

/** Nothing moves: the answer, or no clusters where there are no rows. */
function atRest(shape: SumsShape, content: Content, totals: Float64Array): Content {
  const { k } = shape;
  const hasRows = content.stage === stages.rows;
  const rows = hasRows ? totals.subarray(0, k).reduce((sum, count) => sum + count, 0) : 0;
  const numbers = new Float64Array(answerNumbers(shape));
  if (hasRows) numbers.set(sharedMeansAtRest(shape, content, totals));
  const isValidated = shape.replicates !== undefined && hasRows;
  const stage = isValidated ? stages.validate : stages.rest;
  return { ...content, stage, steps: isValidated ? 0 : content.steps, rows, seeded: content.seeded || rows, numbers };
}

/** How a generation ends in which nothing is asked. */
export function endWithoutSums({ stage, roster }: Content): GenerationEnd | undefined {
  if (stage === stages.rest) return roster === undefined ? "settled" : "few";
  return stage === stages.frozen || stage === stages.approved ? "settled" : undefined;
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
  const first = shape.isGuarded ? stages.cores : stages.rows;
  const clusters = shape.choosing === undefined ? first : stages.choose;
  const { releasing, describing } = shape;
  if (releasing !== undefined) return afterRound(releasing, content, totals, devices);
  // Everybody on the board has approved.
  if (content.stage === stages.described) return { ...content, stage: stages.approved };
  if (describing !== undefined) {
    const { isDone, ...known } = afterDescription(describing, content, totals);
    return { ...content, ...known, stage: isDone ? stages.described : stages.describe, steps: content.steps + 1 };
  }
  switch (content.stage) {
    case stages.moments:
      return afterMoments(shape, content, totals);
    case stages.grid:
      return afterGrid(shape, content, totals, clusters);
    case stages.means:
      return afterMeans(shape, content, totals);
    case stages.codebook:
      return afterCodebook(shape, content, totals, devices, clusters);
    case stages.validate:
      return afterValidation(shape, content, totals, devices);
    case stages.choose:
    case stages.chosen:
      return afterChoice(shape, content, totals, devices);
    case stages.cores: {
      const found = lloydStep(shape, content, totals, devices);
      return found === "settled" ? { ...content, stage: stages.rows, steps: content.steps + 1 } : found;
    }
    case stages.rows: {
      const found = lloydStep(shape, content, totals, devices);
      if (typeof found === "string" || shape.start !== undefined) return found;
      // Devices that came later may have other clusters.
      return content.seeded > 0 && found.rows > 2 * content.seeded ? firstContent(shape) : found;
    }
    default:
      return "settled";
  }
}

/** Of a feature's range: enough to be other centroids, and too little to matter. */
const STIR = 2 ** -20;

/** `chance` is 32 bytes. */
function aside({ d, ranges }: SumsShape, numbers: Float64Array, chance: Uint8Array): Float64Array {
  return numbers.map((value, i) => {
    const range = ranges[i % d];
    const share = (chance[i % chance.length] - 127.5) / 127.5;
    return Math.min(range / 2, Math.max(-range / 2, value + share * STIR * range));
  });
}

/**
 * The same again a little aside, where something about the devices changed: no two sums are ever published for the same
 * centroids and other devices or rows. Before the first rest all begins anew, as after a `restart`, so that what was begun
 * with others or other rows leaves no trace; private devices are counted again, for another answer if there is one. What
 * is known of earlier rounds stays, and sums that are complete are read. `chance` is other for every base and openings.
 */
export function stirred(shape: SumsShape, content: Content, chance: Uint8Array, isRestart: boolean): Content {
  const { roster, stage } = content;
  if (roster !== undefined) {
    if (stage === stages.keys) return content;
    if (stage !== stages.frozen) return { ...content, stage: stages.census, roster: emptyRoster(roster.version) };
    return isRestart ? census(roster.version + 1) : content;
  }
  // A description has no centroids to move, and begins anew.
  if (shape.describing !== undefined) return firstContent(shape);
  const { numbers, ...rest } = isRestart || content.seeded === 0 ? firstContent(shape) : content;
  // What was known of the answer does not hold for other rows.
  const isAnswer = rest.stage === stages.rest || rest.stage === stages.validate;
  const from = isAnswer ? numbers.subarray(0, shape.k * shape.d) : numbers;
  return { ...rest, stage: isAnswer ? stages.rows : rest.stage, steps: 0, numbers: aside(shape, from, chance) };
}
