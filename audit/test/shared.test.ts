// Attacks on shared clusters: what they find in open studies, and that they find no row in guarded ones.

import { complete } from "@fedkm/core";
import { simulate } from "@fedkm/device";
import { describe, expect, it } from "vitest";
import { auditStudy } from "../src/audit.ts";
import { attackScenario, ownPrivateStudy, ownStudy } from "../src/scenario.ts";

const shared = { ...ownStudy, alpha: 0, clusters: "shared", colluders: 1 } as const;

describe("auditStudy(options) of a study with shared clusters", () => {
  it("finds a row that is added in an open study, and all sums of a device whose neighbours all collude", async () => {
    const tallies = await auditStudy({ study: shared, datasets: [], runs: 2, seed: 1 });
    const of = (attack: string) => tallies.find((tally) => tally.attack === attack);
    expect(of("added row")).toMatchObject({ withRows: 2 });
    expect(of("growth")).toMatchObject({ withRows: 2, smallestClass: 1 });
    expect(of("coalition")).toMatchObject({ groups: 2, withRows: 2 });
    // As many as the study's colluders learn nothing of a device.
    expect(of("bystander")).toMatchObject({ groups: 0, rows: 0 });
    expect(of("replay")).toMatchObject({ rows: 0 });
  });

  it("finds no row in a guarded study", async () => {
    const study = { ...shared, privacy: "guarded" } as const;
    const tallies = await auditStudy({ study, datasets: [], runs: 2, seed: 1 });
    for (const { rows } of tallies) expect(rows).toBe(0);
    for (const all of ["row space", "growth"]) {
      expect(tallies.find(({ attack }) => attack === all)?.smallestClass).toBeGreaterThanOrEqual(10);
    }
  });

  it("finds neither rows nor means in a private study, which has an answer", async () => {
    const study = { ...ownPrivateStudy, alpha: 0, clusters: "shared", colluders: 1, devices: 10 } as const;
    const scene = await attackScenario(study, [], 1);
    const network = simulate({ ...scene, graph: complete(4), seed: 1 });
    network.settle(120_000);
    expect(network.status(0)).toMatchObject({ phase: "settled", private: { releases: 4 } });
    const people = { ...study, protects: "persons", personColumn: "patient" } as const;
    for (const one of [study, people]) {
      const tallies = await auditStudy({ study: one, datasets: [], runs: 2, seed: 1 });
      for (const { rows, groups } of tallies) expect([rows, groups]).toEqual([0, 0]);
    }
  });
});
