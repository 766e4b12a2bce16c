// The fields of a study that only one kind of clusters has: shared ones, or those that are personal.

import type { Fail, Fields } from "./fields.ts";
import { MOST_ENTRIES } from "./masked/pace.ts";

const LEAST_EPSILON = 0.01;

interface PersonalFields {
  readonly neighbours?: "trusted";
}

interface SharedFields {
  readonly clusters?: "shared";
  readonly colluders?: number;
  readonly devices?: number;
  readonly sums?: "tree";
}

/** What shared clusters have no use for. */
const noneShared = { alpha: 0, coupling: "nearest", weighting: "device", neighbours: "doubted" };

/** What not every study says, so that the hashes of the others stay as they were. */
export function clusterFields(given: Fields, isShared: boolean, fail: Fail): SharedFields | PersonalFields {
  if (!isShared) {
    for (const name of ["colluders", "seed", "devices", "sums"]) {
      if (given.value(name) != null) fail([name], 'left out unless clusters is "shared"', given.value(name));
    }
    const neighbours = given.value("neighbours") ?? "doubted";
    if (neighbours !== "doubted" && neighbours !== "trusted") fail(["neighbours"], "doubted or trusted", neighbours);
    return neighbours === "trusted" ? { neighbours } : {};
  }
  // Every row counts the same, and nothing pulls. The canonical text has these fields all the same.
  for (const [name, none] of Object.entries(noneShared)) {
    const got = given.value(name);
    if (got != null && got !== none) fail([name], 'left out if clusters is "shared"', got);
  }
  const isMany = (x: number) => Number.isInteger(x) && x >= 1 && x <= 1000;
  const colluders = given.number("colluders", isMany, "an integer from 1 to 1000", 1);
  const sums = given.value("sums") ?? "board";
  const isPrivate = given.value("privacy") === "private";
  if (sums !== "board" && sums !== "tree") fail(["sums"], "board or tree", sums);
  if (sums === "tree" && isPrivate) fail(["sums"], 'board with privacy "private" (all devices must be known)', sums);
  const common: SharedFields = { clusters: "shared", colluders, ...(sums === "tree" ? { sums } : {}) };
  if (isPrivate) return { ...common, devices: leastDevices(given, colluders, fail) };
  const devices = given.value("devices");
  if (devices != null) fail(["devices"], 'left out unless privacy is "private"', devices);
  return common;
}

/** With how many devices private rows are released, at least. */
function leastDevices(given: Fields, colluders: number, fail: Fail): number {
  const seed = given.value("seed");
  if (seed != null) fail(["seed"], 'left out with privacy "private" (the first release says where to begin)', seed);
  const epsilon = given.value("epsilon");
  // Larger noise would not be whole numbers of a double.
  if (typeof epsilon === "number" && epsilon < LEAST_EPSILON) {
    fail(["epsilon"], `at least ${LEAST_EPSILON} if clusters is "shared"`, epsilon);
  }
  const least = colluders + 2;
  const isEnough = (x: number) => Number.isInteger(x) && x >= least && x <= MOST_ENTRIES;
  return given.number("devices", isEnough, `an integer from ${least} (colluders and two others) to ${MOST_ENTRIES}`);
}

/** Where shared clusters begin, if the study says it. */
export function seedField(
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
