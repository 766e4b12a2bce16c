// How far the axis of a measure reaches: whole decades for squared distances, 1, 2 and 5 for ratios, whole steps otherwise.

import type { Spacing } from "@fedkm/pictures";
import { type Measure, spacingOf } from "../studies/grid.ts";
import type { Point } from "./series.ts";

export interface Extent {
  readonly domain: readonly [number, number];
  readonly spacing: Spacing;
}

/** All values with the upper ends of their bars; where the axis is linear, with the lower ends too. */
export function extentOf(points: readonly Point[], measure: Measure): Extent {
  const spacing = spacingOf(measure);
  if (spacing === "decades") return { domain: decades(points), spacing };
  if (points.length === 0) return { domain: [0.5, 1], spacing };
  if (spacing === "oneTwoFive") return { domain: oneTwoFive(points), spacing };
  const [low, high] = [Math.min(...points.map((point) => point.low)), Math.max(...points.map((point) => point.high))];
  const step = stepOf(high - low, high);
  const first = Math.floor(low / step + SLACK);
  const last = Math.max(first + 1, Math.ceil(high / step - SLACK));
  return { domain: [rounded(first * step), rounded(last * step)], spacing };
}

/** Of a step: what rounding may take off a value that lies on one. */
const SLACK = 1e-9;

function decades(points: readonly Point[]): readonly [number, number] {
  if (points.length === 0) return [0.1, 1];
  const low = Math.floor(Math.log10(Math.min(...points.map(({ value }) => value))));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...points.map((point) => point.high)))));
  return [Number(`1e${low}`), Number(`1e${high}`)];
}

/** From one of 1, 2 and 5 times a power of ten to another. */
function oneTwoFive(points: readonly Point[]): readonly [number, number] {
  const low = Math.min(...points.map(({ value }) => value));
  const high = Math.max(...points.map((point) => point.high));
  const steps = [low, high].flatMap((value) => {
    const power = Math.floor(Math.log10(value));
    return [1, 2, 5, 10].map((factor) => Number(`${factor}e${power}`));
  });
  return [Math.max(...steps.filter((step) => step <= low)), Math.min(...steps.filter((step) => step >= high))];
}

/** 1, 2 or 5 times a power of ten: at least four of them in the range, or a tenth of a value that has none. */
function stepOf(range: number, value: number): number {
  const rough = range > 0 ? range / 4 : Math.abs(value) / 10;
  if (!(rough > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([5, 2].find((factor) => factor * power <= rough) ?? 1);
}

/** Three steps of 0.1 are 0.3. */
function rounded(value: number): number {
  return Number(value.toPrecision(12));
}

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** 1e-6 as journals write it: 10⁻⁶. Other labels stay. */
export function asPower(label: string): string {
  const [, sign, digits] = /^1e(-?)(\d+)$/.exec(label) ?? [];
  if (digits === undefined) return label;
  return `10${sign === "" ? "" : "⁻"}${Array.from(digits, (digit) => superscripts[Number(digit)]).join("")}`;
}
