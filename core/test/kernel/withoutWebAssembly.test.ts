// A page whose Content-Security-Policy forbids WebAssembly: JavaScript answers with the same bits.

import { afterEach, describe, expect, it, vi } from "vitest";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.resetModules();
});

/** The answers of a library that was loaded just now, so that it has compiled nothing yet. */
async function answers() {
  vi.resetModules();
  const { fit, kmeans, paperData, ring } = await import("../../src/index.ts");
  const { startThreads } = await import("../../src/kernel/threads/node.ts");
  const small = paperData("aniso", 4, 30, 1).datasets;
  const large = paperData("aniso", 4, 3000, 1).datasets;
  const threads = await startThreads({ threads: 2 });
  const models = [small, large].map((datasets) => {
    const { centroids, objective, rounds } = fit(datasets, ring(4), { k: 3, alpha: 1, seed: 1 });
    return { centroids, objective, rounds };
  });
  const { centroids } = kmeans(large[0], { k: 5, seed: 1, kernel: threads });
  await threads.close();
  return { models, centroids };
}

describe("a page that forbids WebAssembly", () => {
  it("gets the same bits from JavaScript, and one warning", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const expected = await answers();
    expect(warn).not.toHaveBeenCalled();
    const Module = vi.fn(function refuse() {
      throw new WebAssembly.CompileError("violates the following Content Security Policy directive");
    });
    const { Memory, Instance, CompileError, validate } = WebAssembly;
    vi.stubGlobal("WebAssembly", { Memory, Instance, CompileError, validate, Module });
    expect(await answers()).toEqual(expected);
    expect(Module.mock.calls.length).toBeGreaterThan(1);
    expect(warn.mock.calls).toEqual([[expect.stringContaining("script-src 'wasm-unsafe-eval' allows it")]]);
  });
});
