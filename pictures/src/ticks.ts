// Where an axis has its ticks and what stands beside them: labels that differ, fit and never touch; how wide text is; and numbers as people
// read them, with no more digits than are known.

/** Even steps; whole decades; or 1, 2 and 5 in every decade. */
export type Spacing = "linear" | "decades" | "oneTwoFive";

interface AxisOptions {
  readonly domain: readonly [number, number];
  /** In pixels. */
  readonly length: number;
  readonly spacing: Spacing;
  /** Labels of an axis across stand side by side, of one up above each other. */
  readonly direction: "across" | "up";
  /** At most so many ticks; 6 unless said otherwise. */
  readonly most?: number;
  /** Only whole numbers, of which half a one would make no sense. */
  readonly whole?: boolean;
}

interface Ticks {
  /** What Plot's axes take. */
  readonly axis: { readonly ticks: number[]; readonly tickFormat: (value: number) => string };
  /** What the widest label needs beside an axis up, with its distance to the axis. */
  readonly room: number;
  /** How far labels of an axis across reach beyond its two ends. */
  readonly beyond: readonly [number, number];
}

/** Between two labels, and between a label and its axis. */
const GAP = { across: 8, up: 3 };
const BESIDE = 10;

/** A domain narrower than this share of its values has no ticks that a double can tell apart. */
const FINEST = 1e-12;

/** From the least to the most of some values, or around a single one, which still needs a scale. */
export function domainOf(values: Iterable<number>): [number, number] {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  const largest = Math.max(Math.abs(least), Math.abs(most));
  if (most - least > FINEST * largest) return [least, most];
  return largest === 0 ? [0, 1] : [least - largest / 10, most + largest / 10];
}

/** The most ticks whose labels stay apart; a single one where there is no room for two. */
export function axisTicks({ domain, length, spacing, direction, most = 6, whole = false }: AxisOptions): Ticks {
  const [low, high] = domain;
  const along = spacing === "linear" ? (value: number) => value : Math.log;
  const place = (value: number) => (length * (along(value) - along(low))) / (along(high) - along(low));
  const extent = (label: string) => (direction === "up" ? labelSize : textWidth(label));
  const isClear = ({ values, labels }: Labelled) =>
    values.every((value, i) => {
      if (i === 0) return true;
      const needed = (extent(labels[i]) + extent(labels[i - 1])) / 2 + GAP[direction];
      return place(value) - place(values[i - 1]) >= needed;
    });
  const isKept = ({ values }: Labelled) => !whole || values.every(Number.isInteger);
  const tried = [...candidates(low, high, spacing, most)].filter(isKept);
  if (tried.length === 0) tried.push({ values: [Math.round(low)], labels: [compactLabel(Math.round(low))] });
  const fewest = tried[tried.length - 1];
  const { values, labels } = tried.find(isClear) ?? { values: [fewest.values[0]], labels: [fewest.labels[0]] };
  const written = new Map(values.map((value, i) => [value, labels[i]]));
  const last = labels.length - 1;
  return {
    axis: { ticks: [...values], tickFormat: (value) => written.get(value) ?? "" },
    room: Math.ceil(Math.max(...labels.map((label) => textWidth(label)))) + BESIDE,
    beyond: [
      Math.max(0, extent(labels[0]) / 2 - place(values[0])),
      Math.max(0, place(values[last]) + extent(labels[last]) / 2 - length),
    ],
  };
}

interface Labelled {
  readonly values: readonly number[];
  readonly labels: readonly string[];
}

/** From many ticks to few. A log axis too short for decades has ticks as if it were linear. */
function* candidates(low: number, high: number, spacing: Spacing, most: number): Generator<Labelled> {
  if (spacing !== "linear") {
    const inDecade = spacing === "decades" ? [[1]] : [[1, 2, 5], [1]];
    const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
    for (const factors of inDecade) {
      for (let stride = 1; stride <= last - first + 1; stride++) {
        if (factors.length > 1 && stride > 1) break;
        const values = powers(first, last, stride, factors).filter((value) => value >= low && value <= high);
        if (values.length < 2 || (spacing === "decades" && values.length > most)) continue;
        yield { values, labels: values.map(spacing === "decades" ? decade : compactLabel) };
      }
    }
  }
  for (let ticks = most; ticks >= 1; ticks--) yield linearTicks(low, high, ticks);
}

/** Multiples of the stride, so that 1e0 is a tick wherever the axis begins. */
function powers(first: number, last: number, stride: number, factors: readonly number[]): number[] {
  const values: number[] = [];
  for (let exponent = stride * Math.ceil(first / stride); exponent <= last; exponent += stride) {
    for (const factor of factors) values.push(Number(`${factor}e${exponent}`));
  }
  return values;
}

function decade(value: number): string {
  return `1e${Math.round(Math.log10(value))}`;
}

function linearTicks(low: number, high: number, most: number): Labelled {
  const largest = Math.max(Math.abs(low), Math.abs(high));
  if (!(high - low > FINEST * largest)) return { values: [low], labels: [compactLabel(low)] };
  const rough = (high - low) / most;
  const power = exponentOf(rough.toExponential());
  const [factor, exponent] = ([1, 2, 5].map((digit) => [digit, power]) as [number, number][]).find(
    ([digit]) => Number(`${digit}e${power}`) >= rough * (1 - FINEST),
  ) ?? [1, power + 1];
  const step = Number(`${factor}e${exponent}`);
  const values: number[] = [];
  for (let i = Math.ceil(low / step - FINEST); i <= high / step + FINEST; i++) {
    // From its digits, because 3 * 0.1 is not 0.3.
    const value = Number(`${i * factor}e${exponent}`);
    if (value >= low && value <= high) values.push(value);
  }
  if (values.length === 0) return { values: [low], labels: [compactLabel(low)] };
  return { values, labels: linearLabels(values, step, exponent) };
}

const units = [
  { least: 1e12, size: 12, name: " T" },
  { least: 1e9, size: 9, name: " G" },
  { least: 1e6, size: 6, name: " M" },
  { least: 1e4, size: 3, name: " k" },
  { least: 1e-3, size: 0, name: "" },
];
/** More digits than this are written as differences. */
const MOST_DIGITS = 5;
const TOO_LARGE = 1e15;

/** With as many digits as the step needs; where those are many, what comes after the first is written as a difference. */
function linearLabels(values: readonly number[], step: number, exponent: number): string[] {
  if (values.length === 1) return [compactLabel(values[0])];
  const digits = exponentOf(Math.max(...values.map(Math.abs)).toExponential()) - exponent + 1;
  if (digits <= MOST_DIGITS) return alike(values, exponent);
  const base = alike(values.slice(0, 1), exponentOf(values[0].toExponential()) - MOST_DIGITS);
  const further = values.slice(1).map((_, i) => Number(((i + 1) * step).toPrecision(12)));
  return [...base, ...alike(further, exponent).map((label) => `+${label}`)];
}

/** Of 0 and so many steps of at most two digits. */
export function axisStepLabels(step: number, steps: number): string[] {
  const digits = step.toExponential(1);
  const exponent = exponentOf(digits) - (digits.includes(".0e") ? 0 : 1);
  return alike(
    Array.from({ length: steps + 1 }, (_, i) => Number((i * step).toPrecision(3))),
    exponent,
  );
}

/** All in one unit, down to the digit of the power of ten. */
function alike(values: readonly number[], exponent: number): string[] {
  const largest = Math.max(...values.map(Math.abs));
  const unit = largest < TOO_LARGE ? units.find(({ least }) => largest >= least) : undefined;
  return values.map((value) => {
    if (value === 0) return "0";
    if (unit !== undefined) {
      const decimals = Math.max(0, unit.size - exponent);
      const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
      return (value / 10 ** unit.size).toLocaleString("en", digits) + unit.name;
    }
    const own = exponentOf(value.toExponential());
    return value.toExponential(Math.max(0, own - exponent)).replace("e+", "e");
  });
}

/** One number in few characters: 1.2 M, 12.3 k, 950, 0.25, 1.2e-4. */
export function compactLabel(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  const unit = size < TOO_LARGE ? units.find(({ least }) => size >= least) : undefined;
  // 1.0e-6 as 1e-6.
  if (unit === undefined)
    return value
      .toExponential(1)
      .replace(/\.?0+e/, "e")
      .replace("e+", "e");
  if (unit.size > 0) return `${Number((value / 10 ** unit.size).toFixed(1))}${unit.name}`;
  return size >= 1000 ? countLabel(Math.round(value)) : String(Number(value.toPrecision(3)));
}

/** So many significant digits: 0.049, 20.29, 5.3e-6. */
export function significantLabel(value: number, digits: number): string {
  if (value === 0) return "0";
  const short = value.toExponential(digits - 1);
  const exponent = exponentOf(short);
  if (exponent < -3 || exponent > 4) return short.replace("e+", "e");
  return Number(short).toFixed(Math.max(0, digits - 1 - exponent));
}

/** A whole number, its thousands apart: 636,768. */
export function countLabel(value: number): string {
  // There is no zero below zero.
  return (value + 0).toLocaleString("en");
}

/** The power of ten in 1.2e-5: -5. */
function exponentOf(written: string): number {
  return Number(written.slice(written.indexOf("e") + 1));
}

// How wide text is, without a browser.

/**
 * Advance widths of the characters from space to tilde, in thousandths of the font's size: for each the wider one of
 * Inter, which PNG and PDF are written in, and DejaVu Sans, the widest font that browsers take for system-ui.
 */
const advances = (
  "318 401 466 838 642 982 780 300 390 390 501 838 318 460 318 360 636 636 636 636 646 636 636 636 636 636 337 337 " +
  "838 838 838 531 1000 690 686 730 770 632 590 775 752 295 571 672 565 903 753 787 639 787 695 642 646 744 690 989 " +
  "685 679 685 390 360 390 838 500 500 613 635 571 635 615 370 635 634 278 278 579 278 974 634 612 635 635 411 528 " +
  "392 634 592 818 592 592 552 636 337 636 838"
)
  .split(" ")
  .map(Number);
const FIRST = 32;

/** Beyond these characters a letter is taken to be this wide, and an ideograph to fill a square. */
const OTHER = 700;
const SQUARE = 1000;
const FIRST_IDEOGRAPH = 0x2e80;

/** One size for text, one for labels, one for the title. */
export const textSize = 13;
/** The size of labels, in pixels. */
export const labelSize = 11;
/** The size of a title, in pixels. */
export const titleSize = 20;

/** In pixels, of a line of labels unless another size is given. */
export function textWidth(text: string, size = labelSize): number {
  let sum = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    sum += advances[code - FIRST] ?? (code < FIRST_IDEOGRAPH ? OTHER : SQUARE);
  }
  return (sum * size) / 1000;
}

/** The text, or its beginning and its end with an ellipsis between: names often differ in a number at their end. */
export function shortenedLabel(text: string, room: number, size = labelSize): string {
  const characters = [...text];
  let shown = text;
  for (let kept = characters.length - 1; kept >= 0 && textWidth(shown, size) > room; kept--) {
    const end = Math.floor(kept / 2);
    shown = `${characters.slice(0, kept - end).join("")}…${characters.slice(characters.length - end).join("")}`;
  }
  return shown;
}
