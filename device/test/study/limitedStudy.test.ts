// An owner's limits against studies: the stricter of both, or out; by rule, and in simulated networks byte for byte.

import { complete, takeRows } from "@fedkm/core";
import { expect, test } from "vitest";
import { simulatedPeer } from "../../src/simulation/links.ts";
import { simulate } from "../../src/simulation/simulate.ts";
import { limitedStudy, limitsFault } from "../../src/study/limitedStudy.ts";
import { checkLimits, mayRun, type OwnerLimits } from "../../src/study/ownerLimits.ts";
import { contractOf, type Study } from "../../src/study/study.ts";
import { problem, studyWith } from "../problem.ts";

const guarded = studyWith({ privacy: "guarded", minimum: 5 });
const noisy = studyWith({ privacy: "private", typicalRows: 100, epsilon: 1, delta: 1e-5, lifetimeEpsilon: 4 });
const open = studyWith({ privacy: "open" });
const category = { name: "sex=f", unit: "", min: 0, max: 1, scale: 1, column: "Sex", level: "f" };

test.each<[string, Study, OwnerLimits, RegExp | undefined]>([
  ["nothing is limited", open, {}, undefined],
  ["a smaller minimum is raised", guarded, { minRows: 20 }, undefined],
  ["an open study has no minimum", open, { minRows: 2 }, /open and shows single rows/],
  ["an open study has no noise", open, { maxEpsilon: 1 }, /open and shows single rows/],
  ["a guarded study has no noise", guarded, { maxEpsilon: 1 }, /no sums without it/],
  ["a minimum stands for it", guarded, { maxEpsilon: 1, minRows: 20 }, undefined],
  ["a larger epsilon", noisy, { maxEpsilon: 0.5 }, /epsilon 1, this device at most 0.5/],
  ["the same epsilon", noisy, { maxEpsilon: 1, minRows: 3 }, undefined],
  ["a column by another spelling", guarded, { never: [" X1 ", "z"] }, /column "x1"/],
  ["a category", { ...guarded, features: [category] }, { never: ["sex"] }, /column "Sex"/],
  ["whose rows they are", { ...noisy, personColumn: "id" }, { never: ["id"] }, /column "id"/],
  ["another column", guarded, { never: ["name"] }, undefined],
  ["no consent", guarded, { consent: ["describe"] }, /not consented to the stage fit/],
])("%s", (_, study, limits, fault) => {
  const found = limitsFault(study, limits);
  if (fault === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(fault);
});

test("an open question needs consent to describe, and what follows consent to fit", () => {
  const asked = { ...guarded, features: [{ ...guarded.features[0], open: "number" as const }] };
  expect(limitsFault(asked, { consent: ["fit"] })).toMatch(/describe/);
  expect(limitsFault(asked, { consent: ["describe"] })).toBeUndefined();
  expect(mayRun({}, "choose")).toBe(true);
  expect(mayRun({ consent: [] }, "choose")).toBe(false);
});

test("the stricter of both counts for the own rows", () => {
  expect(limitedStudy(guarded, { minRows: 20 }).minimum).toBe(20);
  expect(limitedStudy(guarded, { minRows: 3 }).minimum).toBe(5);
  expect(limitedStudy(noisy, { maxEpsilon: 2 })).toMatchObject({ epsilon: 1, lifetimeEpsilon: 2 });
  expect(limitedStudy(noisy, { maxEpsilon: 9 }).lifetimeEpsilon).toBe(4);
});

test.each<[object, string]>([
  [{ minRows: 0 }, "minRows of limits must be an integer of at least 1, got 0"],
  [{ maxEpsilon: 0 }, "maxEpsilon of limits must be a number above 0, got 0"],
  [{ never: "x" }, 'never of limits must be a list of columns, got "x"'],
  [{ consent: ["all"] }, 'consent of limits must be a list of stages (describe, choose, fit, validate), got ["all"]'],
  [{ minimum: 3 }, "minimum of limits must be left out"],
])("limits %j are refused", (limits, message) => {
  expect(() => checkLimits(limits)).toThrow(message);
});

test("a device that stays out sends the same bytes with other rows, says so, and stays out after a crash", async () => {
  const given = await problem("iso", complete(3), 1);
  const endWith = (limits: OwnerLimits, rows: number) => {
    const own = takeRows(
      given.datasets[0],
      Array.from({ length: rows }, (_, r) => r),
    );
    const network = simulate({ ...given, datasets: [own, ...given.datasets.slice(1)], limits: new Map([[0, limits]]) });
    network.run(20_000);
    network.crash(0);
    network.restart(0);
    network.setRows(0, own);
    network.consent(0);
    network.setPaused(0, false);
    network.run(20_000);
    return network;
  };
  const [first, second] = [endWith({ minRows: 20 }, 150), endWith({ minRows: 20 }, 90)];
  expect(first.digest()).toBe(second.digest());
  expect(first.status(0)).toMatchObject({ phase: "paused", rows: 0 });
  expect(first.change(1).isOut(simulatedPeer(0))).toBe(true);
  expect(first.change(1).isOut(simulatedPeer(2))).toBe(false);
  const [free, other] = [endWith({}, 150), endWith({}, 90)];
  expect(free.digest()).not.toBe(other.digest());
  expect(free.change(1).isOut(simulatedPeer(0))).toBe(false);
});

test.each(["personal", "shared"] as const)(
  "no group of a %s guarded device is smaller than its own minimum",
  async (clusters) => {
    const given = await problem("iso", complete(3), 2);
    const shared = clusters === "shared" ? { clusters, colluders: 1, alpha: 0 } : {};
    const study = studyWith({ privacy: "guarded", minimum: 2, ...shared });
    const common = { ...given, study, contract: await contractOf(study) };
    const smallest = (limits: OwnerLimits) => {
      const network = simulate({ ...common, limits: new Map([[0, limits]]) });
      network.run(60_000);
      return network.status(0).guarded?.smallestClass ?? 0;
    };
    expect(smallest({ minRows: 30 })).toBeGreaterThanOrEqual(30);
    expect(smallest({})).toBeLessThan(30);
  },
);
