import { test } from "vitest";
import { auditStudy } from "../../src/audit/audit.ts";
import { ownStudy } from "../../src/audit/scene.ts";

test("proto", async () => {
  const begun = performance.now();
  const runs = Number(process.env.RUNS ?? 10);
  const tallies = await auditStudy({ study: ownStudy, datasets: [], runs, seed: Number(process.env.SEED ?? 1) });
  console.table(tallies);
  console.log((performance.now() - begun) / runs);
});
