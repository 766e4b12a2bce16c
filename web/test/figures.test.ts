// The figures of the article against what is known of them: sums that never rise, pulls in balance, rows that are found.

import { describe, expect, it } from "vitest";
import { figures } from "../src/engine/figures.ts";

describe("the article's figures", () => {
  it("Lloyd's steps never raise the misfit, and end where no row would join another centre", () => {
    const { rows, steps } = figures.lloyd();
    for (const [i, { misfit }] of steps.entries())
      expect(misfit).toBeLessThanOrEqual(i === 0 ? misfit : steps[i - 1].misfit);
    const { centres, labels } = steps[steps.length - 1];
    const far = (r: number, c: number) => (rows[r][0] - centres[c][0]) ** 2 + (rows[r][1] - centres[c][1]) ** 2;
    for (const r of rows.keys()) for (const c of [0, 1, 2]) expect(far(r, labels[r])).toBeLessThanOrEqual(far(r, c));
  });

  it.each([0, 0.05, 0.4, 5])("at alpha %d own rows and the neighbour pull equally hard", (alpha) => {
    const { means, settled } = figures.spring(alpha);
    // The closed form of two devices: (1 + 2 alpha) w_i = mean_i + 2 alpha w_j.
    for (const [i, centre] of settled.entries()) {
      expect((1 + 2 * alpha) * centre).toBeCloseTo(means[i] + 2 * alpha * settled[1 - i], 6);
      expect(figures.springUpdate(i, settled, alpha)).toBeCloseTo(centre, 6);
    }
  });

  it("every update of the bars lowers the sum, at any alpha", () => {
    for (const alpha of [0.001, 0.03, 0.5, 3]) {
      const totals = figures.sums(alpha).map(({ misfit, pull }) => misfit + pull);
      expect(totals).toHaveLength(13);
      for (const [i, total] of totals.entries()) {
        if (i > 0) expect(total).toBeLessThanOrEqual(totals[i - 1] * (1 + 1e-12));
      }
    }
  });

  it("more alpha is more misfit and nearer centres, and misfit and pull add up to what all lower", () => {
    const { stops } = figures.alpha();
    const misfits = stops.map(({ misfit }) => misfit);
    expect(misfits[misfits.length - 1]).toBeGreaterThan(2 * misfits[0]);
    for (const [i, misfit] of misfits.entries()) if (i > 0) expect(misfit).toBeGreaterThan(misfits[i - 1] - 1e-6);
  });

  it("strangers are let go of, and pull both communities to the middle where they are not", () => {
    const { stops } = figures.communities();
    const { all, near } = stops[stops.length - 1];
    expect(all.apart).toBeLessThan(0.1 * stops[0].all.apart);
    expect(near.apart).toBeCloseTo(stops[0].near.apart, 0);
    expect(near.torn.map(Number)).toEqual([0, 0, 0, 0, 0, 0, 1, 1]);
  });

  it("a large lie is left out by the gate, and drags everybody without it", () => {
    const { stops } = figures.liar();
    const last = stops[stops.length - 1];
    expect(last.gated.leftOut).toBe(1);
    expect(last.gated.harm).toBeLessThan(0.1);
    expect(last.believed.harm).toBeGreaterThan(2);
    // The gate has its price: a lie that looks like a difference does the most harm.
    expect(Math.max(...stops.map(({ gated }) => gated.harm))).toBeGreaterThan(5 * last.gated.harm);
  });

  it("an open clinic gives away every admitted row, and a guarded one lets ten come to count at once", () => {
    for (const { truth, found } of figures.reconstruction(12).stolen) {
      expect(Math.hypot((found?.[0] ?? Infinity) - truth[0], (found?.[1] ?? Infinity) - truth[1])).toBeLessThan(1e-8);
    }
    const before = figures.reconstruction(0).guarded;
    expect(figures.reconstruction(9).guarded).toEqual(before);
    expect(figures.reconstruction(9).waiting).toBe(9);
    expect(figures.reconstruction(10).waiting).toBe(0);
    expect(figures.reconstruction(10).guarded).not.toEqual(before);
  });

  it("a private clinic's releases come nearer to its means as epsilon grows", () => {
    const means = figures.reconstruction(0).open.map((own) => own?.mean ?? [0, 0]);
    const spread = (epsilon: number) =>
      figures
        .releases(0, epsilon)
        .flatMap((one) => means.map(([x, y]) => Math.min(...one.map((at) => Math.hypot(at[0] - x, at[1] - y)))))
        .reduce((sum, far) => sum + far, 0);
    expect(spread(50)).toBeLessThan(0.25 * spread(2));
    expect(spread(2)).toBeLessThan(spread(0.5));
  });
});
