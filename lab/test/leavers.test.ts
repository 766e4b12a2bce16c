import { describe, expect, it } from "vitest";
import { departure, releaseSteps } from "../src/shared/releaseDepartures.ts";

describe("a device that leaves a private release", () => {
  it.each(releaseSteps.map((step, way) => [step, way % 3] as const))(
    "costs nobody anything after this step: %s (way %i)",
    async (step, way) => {
      const found = await departure({ step, way, seed: 11, devices: 5 });
      expect(found).toMatchObject({ paidForNothing: 0, readTwice: 0, recovered: 0 });
      expect(found.hasAnswer || found.isBack).toBe(true);
    },
  );
});
