// Joint steps near the end of a run: one that changed labels is not the last, and exact ones follow rough ones.

import { certify, fit, paperData, path, ring } from "@fedkm/core";
import { describe, expect, it } from "vitest";

describe("a strongly coupled run", () => {
  it("is not at rest after a joint step that has changed labels", () => {
    const { datasets } = paperData("iso", 5, 42, 162);
    const model = fit(datasets, path(5), { k: 4, alpha: 100, seed: 162, init: "kmeans++", tol: 1e-4 });
    expect(model.converged).toBe(true);
    expect(certify(datasets, path(5), model, { alpha: 100 }).relativeResidual).toBeLessThan(1e-6);
  });

  it("ends with exact joint steps once labels stay as they are", () => {
    const { datasets } = paperData("aniso", 9, 43, 5);
    const model = fit(datasets, ring(9), { k: 3, alpha: 1000, seed: 5, init: "local", tol: 1e-9 });
    expect(model.converged).toBe(true);
    expect(certify(datasets, ring(9), model, { alpha: 1000 }).relativeResidual).toBeLessThan(1e-13);
  });
});
