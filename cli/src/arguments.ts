// What an argument must look like, said in one line when it does not.

import { UsageError } from "./failure.ts";

export function parseSeed(text: string): number {
  const seed = Number(text);
  if (!/^[+-]?\d+$/.test(text) || !Number.isSafeInteger(seed)) {
    throw new UsageError(`--seed must be an integer from -(2^53 - 1) to 2^53 - 1, got "${text}"`);
  }
  return seed;
}

export function parsePicture(file: string): string {
  if (!/\.svg$/i.test(file)) throw new UsageError(`--out must name a file that ends in .svg, got "${file}"`);
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

/** A finite number from 0, of the option that is named. */
export function parsePositive(option: string): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^[\d.]+(e[+-]?\d+)?$/i.test(text) || !Number.isFinite(value)) {
      throw new UsageError(`${option} must be a number from 0, got "${text}"`);
    }
    return value;
  };
}
