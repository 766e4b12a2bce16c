// The fields of a study that only shared clusters have, and those that they do not have.

import type { Fail, Fields } from "./fields.ts";

/** What a study with shared clusters says more than others; nothing where it says so of none. */
export function sharedIn(
  given: Fields,
  isShared: boolean,
  fail: Fail,
): { readonly clusters?: "shared"; readonly colluders?: number } {
  if (!isShared) {
    for (const name of ["colluders", "seed"]) {
      if (given.value(name) != null) fail([name], 'left out unless clusters is "shared"', given.value(name));
    }
    return {};
  }
  // Every row counts the same, and nothing pulls. The canonical text has these fields all the same.
  for (const [name, none] of Object.entries({ alpha: 0, coupling: "nearest", weighting: "device" })) {
    const got = given.value(name);
    if (got != null && got !== none) fail([name], 'left out if clusters is "shared"', got);
  }
  if (given.value("privacy") === "private") {
    fail(["privacy"], '"open" or "guarded" if clusters is "shared" (this version keeps no other promise)', "private");
  }
  const isMany = (x: number) => Number.isInteger(x) && x >= 1 && x <= 1000;
  return { clusters: "shared", colluders: given.number("colluders", isMany, "an integer from 1 to 1000", 1) };
}

/** Where shared clusters begin, if the study says it. */
export function seedIn(
  given: Fields,
  k: number,
  features: readonly { readonly min: number; readonly max: number }[],
  fail: Fail,
): number[][] | undefined {
  const value = given.value("seed");
  if (value === undefined || value === null) return undefined;
  const isInside = (row: unknown) =>
    Array.isArray(row) &&
    row.length === features.length &&
    row.every((x, f) => typeof x === "number" && x >= features[f].min && x <= features[f].max);
  const rule = `${k} rows of ${features.length} numbers within the bounds of the features`;
  if (!Array.isArray(value) || value.length !== k || !value.every(isInside)) return fail(["seed"], rule, value);
  return value;
}
