import { describe, expect, it } from "vitest";
import { isShareAt, sealFrom, secretFrom } from "../../src/sharedClusters/seal.ts";

const seal = sealFrom(new Uint8Array(32).fill(7), 2);

describe("the secret of a seal", () => {
  it("comes back from any shares, one more than colluders, and from no fewer", () => {
    const of = (...places: number[]) => secretFrom(new Map(places.map((place) => [place, seal.shareAt(place)])));
    expect(of(1, 2, 3)).toEqual(seal.secret);
    expect(of(256, 9, 40)).toEqual(seal.secret);
    expect(of(1, 2)).not.toEqual(seal.secret);
  });

  it("is told from another by the commitments, and so is every share", () => {
    const { commitments, secret, shareAt } = seal;
    expect(isShareAt(commitments, 0, secret)).toBe(true);
    expect(isShareAt(commitments, 0, shareAt(1))).toBe(false);
    for (const place of [1, 2, 200]) expect(isShareAt(commitments, place, shareAt(place))).toBe(true);
    expect(isShareAt(commitments, 3, shareAt(4))).toBe(false);
    expect(isShareAt(new Uint8Array(96).fill(255), 3, shareAt(3))).toBe(false);
    expect(isShareAt(commitments, 3, new Uint8Array(32))).toBe(false);
    expect(isShareAt(commitments, 3, new Uint8Array(32).fill(255))).toBe(false);
  });

  it("is the same for the same seed, and another one for another", () => {
    expect(sealFrom(new Uint8Array(32).fill(7), 2).commitments).toEqual(seal.commitments);
    expect(sealFrom(new Uint8Array(32).fill(8), 2).secret).not.toEqual(seal.secret);
  });
});
