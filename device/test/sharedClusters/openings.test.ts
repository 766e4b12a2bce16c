// Openings as a set that only grows: whoever hears them in whatever order ends with the same ones.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testSeed } from "../../../test/runs.ts";
import {
  decodeOpening,
  isHigher,
  isOpeningSigned,
  isSuspended,
  MOST_SPENT,
  type Opening,
  openingBytes,
  openingsDigest,
  signedOpening,
  spentAfter,
} from "../../src/sharedClusters/openings.ts";
import { simulatedSecrets } from "../../src/simulation/simulatedSecrets.ts";
import { MOST_BASE_OPENINGS, SUSPENDED_RESTS } from "../../src/wire/limits.ts";

const base = new Uint8Array(32).fill(1);
const members = ["a", "b", "c"].map((name) => simulatedSecrets(name));
const [a] = members;
const none = new Map<string, number>();

function merged(openings: readonly Opening[]): Map<string, Opening> {
  const all = new Map<string, Opening>();
  for (const opening of openings) if (isHigher(opening, none, all)) all.set(opening.id, opening);
  return all;
}

describe("openings", () => {
  it("end alike, in whatever order and however often they are heard", () => {
    const one = fc
      .tuple(fc.nat(2), fc.integer({ min: 1, max: MOST_BASE_OPENINGS + 1 }), fc.boolean())
      .map(([i, counter, isRestart]) => signedOpening(members[i], base, counter, isRestart));
    fc.assert(
      fc.property(fc.array(one, { maxLength: 12 }), fc.infiniteStream(fc.nat()), (heard, order) => {
        const shuffled = heard.map((opening) => ({ opening, at: order.next().value })).sort((x, y) => x.at - y.at);
        const again = [...shuffled.map(({ opening }) => opening), ...heard];
        expect(openingsDigest(merged(again))).toEqual(openingsDigest(merged(heard)));
      }),
      { seed: testSeed },
    );
  });

  it("hold for one base and one member only", () => {
    const opening = signedOpening(a, base, 3, false);
    expect(decodeOpening(openingBytes(opening), 0)).toEqual(opening);
    expect(isOpeningSigned(a, base, opening)).toBe(true);
    expect(isOpeningSigned(a, new Uint8Array(32), opening)).toBe(false);
    for (const changed of [{ counter: 4 }, { isRestart: true }, { key: members[1].key }])
      expect(isOpeningSigned(a, base, { ...opening, ...changed })).toBe(false);
  });

  it("beyond the most suspend a member, through so many rests, and are forgotten at rest otherwise", () => {
    const few = merged([signedOpening(a, base, MOST_BASE_OPENINGS, false)]);
    const { id } = signedOpening(a, base, 1, false);
    expect(isSuspended(id, none, few)).toBe(false);
    expect(spentAfter(none, few, false).get(id)).toBe(MOST_BASE_OPENINGS);
    expect(spentAfter(none, few, true).size).toBe(0);
    const many = merged([signedOpening(a, base, MOST_BASE_OPENINGS + 1, false)]);
    expect(isSuspended(id, none, many)).toBe(true);
    let spent = spentAfter(none, many, true);
    for (let rest = 1; rest < SUSPENDED_RESTS; rest++) {
      expect(isSuspended(id, spent, new Map())).toBe(true);
      expect(isHigher(signedOpening(a, base, MOST_BASE_OPENINGS + 1, true), spent, new Map())).toBe(false);
      spent = spentAfter(spent, new Map(), true);
    }
    expect(isSuspended(id, spent, new Map())).toBe(false);
  });

  it("are remembered of so many members, those that opened most", () => {
    const ids = Array.from({ length: MOST_SPENT + 5 }, (_, n) => n.toString(16).padStart(32, "0"));
    const spent = new Map(ids.map((id, n) => [id, n < 5 ? 1 : 2]));
    expect([...spentAfter(spent, new Map(), false)]).toEqual(ids.slice(5).map((id) => [id, 2]));
  });
});
