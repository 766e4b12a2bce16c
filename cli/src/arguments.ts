// What an argument must look like, said in one line when it does not.

import { UsageError } from "./failure.ts";

export function parseSeed(text: string): number {
  const seed = Number(text);
  if (!/^[+-]?\d+$/.test(text) || !Number.isSafeInteger(seed)) {
    throw new UsageError(`--seed must be an integer from -(2^53 - 1) to 2^53 - 1, got "${text}"`);
  }
  return seed;
}

export function parsePictureArgument(file: string): string {
  if (!/\.svg$/i.test(file)) throw new UsageError(`--out must name a file that ends in .svg, got "${file}"`);
  return file;
}

/** The same, or a page that has the picture in it. */
export function parsePictureOrPage(file: string): string {
  if (!/\.(svg|html)$/i.test(file))
    throw new UsageError(`--out must name a file that ends in .svg or .html, got "${file}"`);
  return file;
}

/** A whole number within bounds, of the option that is named. */
export function parseWhole(option: string, least: number, most = 1_000_000): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most) {
      throw new UsageError(`${option} must be an integer from ${least} to ${most}, got "${text}"`);
    }
    return value;
  };
}

/** A whole number, or two with ".." between. */
export function parseWholeOrRange(option: string, most: number) {
  const whole = parseWhole(option, 1);
  return (text: string): number | { readonly from: number; readonly to: number } => {
    const [, from, to] = /^(\d+)\.\.(\d+)$/.exec(text) ?? [];
    if (from === undefined) return whole(text);
    if (Number(from) < 1 || Number(from) >= Number(to) || Number(to) > most)
      throw new UsageError(`${option} must be FROM..TO with 1 <= FROM < TO <= ${most}, got "${text}"`);
    return { from: Number(from), to: Number(to) };
  };
}

export function parseAtLeastZero(option: string): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === "" || !Number.isFinite(value) || value < 0) {
      throw new UsageError(`${option} must be a number of at least 0, got "${text}"`);
    }
    return value;
  };
}

/** Some of some words, with commas between or one after the other. */
export function parseChoices<T extends string>(option: string, choices: readonly T[]) {
  const parse = parseChoice(option, choices);
  const parseAll = (text: string, before: readonly T[] = []): readonly T[] => [
    ...before,
    ...text.split(",").map((word) => parse(word.trim())),
  ];
  return Object.assign(parseAll, { choices });
}

/** One of some words, which the parser also has as `choices`: completion offers them. */
export function parseChoice<T extends string>(option: string, choices: readonly T[]) {
  const parse = (text: string): T => {
    const choice = choices.find((own) => own === text);
    if (choice === undefined) throw new UsageError(`${option} must be one of ${choices.join(", ")}, got "${text}"`);
    return choice;
  };
  return Object.assign(parse, { choices });
}
