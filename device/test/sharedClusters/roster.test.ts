// Rosters as bytes, and who finds its place in one.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testSeed } from "../../../test/runs.ts";
import { decodeRoster, isPlaceOf, isSafe, rosterBytes, rosterOf } from "../../src/sharedClusters/roster.ts";

const id = (n: number) => n.toString(16).padStart(32, "0");
const links: Record<string, string[]> = {
  [id(1)]: [id(2), id(9)],
  [id(2)]: [id(1), id(9), id(4)],
  [id(4)]: [id(2), id(9)],
  [id(9)]: [id(1), id(2), id(4)],
};
const roster = rosterOf(7, [id(9), id(2), id(4), id(1)], (one) => links[one]);

describe("a roster", () => {
  it("comes back as it was written, and every cut of it is refused", () => {
    const bytes = rosterBytes(roster);
    expect(bytes.length).toBe(10 + 4 * 16 + 1);
    expect(decodeRoster(bytes, 0)).toEqual({ roster, end: bytes.length });
    for (let n = 0; n < bytes.length; n++) expect(decodeRoster(bytes.subarray(0, n), 0)).toBeUndefined();
  });

  it("is the same in whatever order devices and links are found", () => {
    expect(rosterOf(7, [id(1), id(2), id(4), id(9)], (one) => [...links[one]].reverse())).toEqual(roster);
  });

  it("with the same device twice, or out of order, is none", () => {
    const bytes = rosterBytes(roster);
    bytes.copyWithin(10, 26, 42);
    expect(decodeRoster(bytes, 0)).toBeUndefined();
  });

  it("never throws, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => decodeRoster(bytes, 0) !== null),
      { seed: testSeed },
    );
  });

  it("has a place for whoever has just these links", () => {
    expect(isPlaceOf(roster, id(2), [id(9), id(4), id(1)])).toBe(true);
    expect(isPlaceOf(roster, id(2), [id(9), id(4)])).toBe(false);
    expect(isPlaceOf(roster, id(2), [id(9), id(4), id(3)])).toBe(false);
    expect(isPlaceOf(roster, id(3), [])).toBe(false);
  });

  it("is safe from one colluder and not from two, where two can be cut off", () => {
    expect([isSafe(roster, 1), isSafe(roster, 2)]).toEqual([true, false]);
  });
});
