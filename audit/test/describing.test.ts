// The describing of an open study under attack: with privacy open it gives rows away, guarded it does not.

import { expect, test } from "vitest";
import { auditStudy, ownStudy } from "../src/index.ts";

const features = ownStudy.features.map(({ name, unit }) => {
  return { name, unit, min: 0, max: 1, scale: 1, open: "number" as const };
});
const study = { ...ownStudy, clusters: "shared" as const, colluders: 1, alpha: 0, features };

test("all neighbours find rows in cells of one where the study is open, and none where it is guarded", async () => {
  const found = async (privacy: "open" | "guarded", minimum: number) => {
    const tallies = await auditStudy({ study: { ...study, privacy, minimum }, datasets: [], runs: 1, seed: 3 });
    return tallies.find(({ attack }) => attack === "describing");
  };
  expect(await found("open", 1)).toMatchObject({ tried: 1, withRows: 1 });
  expect(await found("guarded", 10)).toMatchObject({ tried: 1, groups: 1, withRows: 0 });
}, 60_000);
