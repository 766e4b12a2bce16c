// How columns are made comparable: by sums, ranges and histograms of the devices, or by a file of bounds.

import type { Matrix } from "@fedkm/core";
import {
  applyScaling,
  applyTransforms,
  type ColumnBounds,
  csvRecords,
  type Encoding,
  federatedQuantiles,
  firstEncodedColumns,
  hasCategories,
  quantileRange,
  rankTransform,
  readBounds,
  type Scaling,
  scalingMoments,
  type Transform,
} from "@fedkm/files";
import type { ModelScaling, ScalingKind } from "../model/model.ts";
import { RequestError } from "../request.ts";

export interface ChosenScaling {
  readonly scaling: ModelScaling;
  readonly warnings: readonly string[];
}

/** Of the columns of the files, in their order; of a category the variance of all its columns together. */
interface Column {
  readonly name: string;
  readonly first: number;
  readonly isCategory: boolean;
  readonly mean: number;
  readonly variance: number;
}

/** The scale of columns that a text such as "standard" asks for, found from the rows of all devices. */
export async function chooseScaling(
  spec: string,
  encoding: Encoding,
  datasets: readonly Matrix[],
): Promise<ChosenScaling> {
  const { kind, text } = parseScale(spec);
  // Without categories there is nothing to weigh, and no row has to be looked at.
  if (kind === "none" && !hasCategories(encoding)) {
    const [offset, scale] = [0, 1].map((value) => encoding.map(() => value));
    return { scaling: { kind, offset, scale }, warnings: [] };
  }
  if (kind === "rank" || kind === "log")
    return { scaling: transformScaling(kind, text, encoding, datasets), warnings: [] };
  const columns = columnsOf(encoding, datasets);
  if (kind === "bounds") return boundsScaling(text, columns, encoding, datasets);
  const numbers = columns.filter(({ isCategory }) => !isCategory);
  const parts = columns.map((column) => {
    if (column.isCategory) return { offset: 0, scale: categoryScale(kind, column, numbers) };
    return numberScale(kind, column, datasets);
  });
  return { scaling: { kind, ...spread(parts, encoding) }, warnings: [] };
}

function parseScale(spec: string): { kind: ScalingKind; text: string } {
  const simple = (["none", "standard", "robust", "minmax", "rank"] as const).find((kind) => kind === spec);
  if (simple !== undefined) return { kind: simple, text: "" };
  const [, kind, text] = /^(bounds|log):(.+)$/s.exec(spec) ?? [];
  if (kind !== "bounds" && kind !== "log") {
    const kinds = "none, standard, robust, minmax, rank, log:COLUMNS or bounds:FILE";
    throw new RequestError(`--scale must be ${kinds}, got "${spec}"`);
  }
  return { kind, text };
}

function columnsOf(encoding: Encoding, datasets: readonly Matrix[]): Column[] {
  const { means, variances } = scalingMoments(datasets);
  const firsts = firstEncodedColumns(encoding);
  return encoding.map(({ name, values }, c) => {
    const first = firsts[c];
    const variance = variances.slice(first, first + (values?.length ?? 1)).reduce((sum, own) => sum + own, 0);
    return { name, first, isCategory: values !== undefined, mean: means[first], variance };
  });
}

/** The quartiles of a normal distribution are so many deviations apart. */
const QUARTILES_APART = 1.3489795003921634;

function numberScale(kind: ScalingKind, { first, mean, variance }: Column, datasets: readonly Matrix[]) {
  const deviation = variance > 0 ? Math.sqrt(variance) : 1;
  if (kind === "none") return { offset: 0, scale: 1 };
  if (kind === "minmax") {
    const { least, most } = quantileRange(datasets, first);
    return { offset: least, scale: most > least ? most - least : 1 };
  }
  if (kind !== "robust") return { offset: mean, scale: deviation };
  const [lower, median, upper] = federatedQuantiles(datasets, first, [0.25, 0.5, 0.75]);
  const scale = (upper - lower) / QUARTILES_APART;
  // Where half of the rows have one value, quartiles say nothing about the others.
  return { offset: median, scale: scale > 1e-9 * deviation ? scale : deviation };
}

/**
 * One category counts like one number. Where numbers have a variance of 1, its columns have it together. Where they lie
 * between 0 and 1, two different values are 1 apart. And where nothing is scaled, its variance is the mean one of the numbers.
 */
function categoryScale(kind: ScalingKind, { variance }: Column, numbers: readonly Column[]): number {
  if (kind === "minmax" || kind === "bounds") return Math.SQRT2;
  if (!(variance > 0)) return 1;
  const sum = numbers.reduce((total, own) => total + own.variance, 0);
  const wanted = kind === "none" && sum > 0 ? sum / numbers.length : 1;
  return Math.sqrt(variance / wanted);
}

/** From one offset and scale for each column of the files to those of the columns that are clustered. */
function spread(parts: readonly { offset: number; scale: number }[], encoding: Encoding): Scaling {
  const all = parts.flatMap((part, c) => Array.from({ length: encoding[c].values?.length ?? 1 }, () => part));
  return { offset: all.map(({ offset }) => offset), scale: all.map(({ scale }) => scale) };
}

/** Standard scaling of what becomes of the rows; ranks are those of all columns of numbers, logarithms those of some. */
function transformScaling(kind: "rank" | "log", text: string, encoding: Encoding, datasets: readonly Matrix[]) {
  const names = kind === "log" ? namesIn(text) : encoding.map(({ name }) => name);
  const firsts = firstEncodedColumns(encoding);
  for (const name of kind === "log" ? names : []) {
    const c = encoding.findIndex((column) => column.name === name && column.values === undefined);
    if (c < 0) throw new RequestError(`--scale log:COLUMNS must name columns of numbers, got "${name}"`);
    checkAboveZero(name, firsts[c], datasets);
  }
  const transforms = encoding.flatMap(({ name, values }, c): (Transform | null)[] => {
    if (values !== undefined) return values.map(() => null);
    if (!names.includes(name)) return [null];
    return [kind === "log" ? { kind } : rankTransform(datasets, firsts[c])];
  });
  const copies = datasets.map(({ data, ...shape }) => ({ ...shape, data: data.slice() }));
  for (const points of copies) applyTransforms(points, transforms);
  const parts = columnsOf(encoding, copies).map((column) =>
    column.isCategory ? { offset: 0, scale: categoryScale(kind, column, []) } : numberScale(kind, column, copies),
  );
  return { kind, ...spread(parts, encoding), transforms };
}

/** Names with commas between; a name with a comma in it stands in quotes. */
function namesIn(text: string): string[] {
  const names = csvRecords("names", text).flat();
  return names.map((name) => name.trim()).filter((name) => name !== "");
}

function checkAboveZero(name: string, column: number, datasets: readonly Matrix[]): void {
  const { least } = quantileRange(datasets, column);
  if (least > 0) return;
  throw new RequestError(
    `--scale log:COLUMNS must name columns whose values are above 0, got ${least} in "${name}": --scale rank takes any`,
  );
}

async function boundsScaling(
  file: string,
  columns: readonly Column[],
  encoding: Encoding,
  datasets: readonly Matrix[],
): Promise<ChosenScaling> {
  const numbers = columns.filter(({ isCategory }) => !isCategory);
  const names = numbers.map(({ name }) => name);
  const bounds = await readBounds(file, names);
  const parts = columns.map((column) => {
    if (column.isCategory) return { offset: 0, scale: categoryScale("bounds", column, numbers) };
    const { least, most } = bounds[numbers.indexOf(column)];
    return { offset: least, scale: most - least };
  });
  const warnings = numbers.flatMap(({ name, first }, c) => outside(name, first, bounds[c], datasets));
  return { scaling: { kind: "bounds", ...spread(parts, encoding) }, warnings };
}

function outside(name: string, c: number, { least, most }: ColumnBounds, datasets: readonly Matrix[]): string[] {
  let count = 0;
  let total = 0;
  for (const { data, rows, cols } of datasets) {
    for (let r = 0, at = c; r < rows; r++, at += cols) if (data[at] < least || data[at] > most) count++;
    total += rows;
  }
  const share = ((100 * count) / total).toPrecision(2);
  return count === 0
    ? []
    : [`${share} % of column ${JSON.stringify(name)} lies outside its bounds ${least} to ${most}`];
}

/** In place: nobody needs the rows as they were. Where nothing is scaled, no row is touched. */
export function applyChosenScaling(datasets: readonly Matrix[], scaling: Scaling): void {
  const { offset, scale, transforms } = scaling;
  if (transforms === undefined && offset.every((own) => own === 0) && scale.every((own) => own === 1)) return;
  for (const points of datasets) applyScaling(points, scaling);
}
