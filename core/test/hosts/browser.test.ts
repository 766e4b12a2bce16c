// The kernel in Chromium, with and without cross-origin isolation: the bits of the reference, the bytes of Node.

import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { createViteServer } from "vitest/node";
import { kmeans } from "../../src/index.ts";
import { launchChromium, browserTest as test } from "./chromium.ts";
import { type HostReport, hashes, PINNED } from "./suite.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const ISOLATION = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };

let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium();
});

afterAll(() => browser?.close());

/** Serves the sources as they are, transformed file by file, and evaluates a program in a page. */
async function inPage<Answer>(headers: Record<string, string>, program: string): Promise<Answer> {
  const server = await createViteServer({
    root,
    configFile: false,
    logLevel: "error",
    // The packages used are ES modules already.
    optimizeDeps: { noDiscovery: true, include: [] },
    server: { host: "127.0.0.1", port: 0, headers, hmr: false, watch: null },
  });
  try {
    await server.listen();
    const page = await browser.newPage();
    await page.goto(`${server.resolvedUrls?.local[0]}core/test/hosts/page.html`);
    const answer: Answer = await page.evaluate(program);
    await page.close();
    return answer;
  } finally {
    await server.close();
  }
}

/** In a page: an answer out of a worker, a refusal, and an abort at the first report. */
const IN_A_WORKER = `import("/core/src/async/browser.ts").then(async ({ kmeansAsync }) => {
  const points = { data: Float64Array.from({ length: 64_000 }, (_, i) => (i * i) % 1009), rows: 4000, cols: 16 };
  const messageOf = (promise) => promise.then(() => "an answer", (error) => error.name + ": " + error.message);
  const { inertia } = await kmeansAsync(points, { k: 4, restarts: 1, maxIter: 5 });
  const refusal = await messageOf(kmeansAsync(points, { k: 0 }));
  const controller = new AbortController();
  const onProgress = () => controller.abort(new Error("enough"));
  const end = await messageOf(kmeansAsync(points, { k: 32, restarts: 1e6, signal: controller.signal, onProgress }));
  return { inertia, refusal, end };
})`;

test.each([
  ["with", ISOLATION, true],
  ["without", {}, false],
])(
  "Chromium %s cross-origin isolation has the bits of the reference and of Node, also in a worker",
  async (_, headers, isIsolated) => {
    const suite = 'import("/core/test/hosts/suite.ts").then(({ report }) => report())';
    const programs = `${suite}.then(async (report) => ({ report, worker: await ${IN_A_WORKER} }))`;
    const { report, worker } = await inPage<{ report: HostReport; worker: object }>(headers, programs);
    expect(report).toEqual({ hasSimd: true, isIsolated, differences: [], hashes: await hashes() });
    expect(report.hashes).toMatchObject(PINNED);
    const points = { data: Float64Array.from({ length: 64_000 }, (_, i) => (i * i) % 1009), rows: 4000, cols: 16 };
    expect(worker).toEqual({
      inertia: kmeans(points, { k: 4, restarts: 1, maxIter: 5 }).inertia,
      refusal: "RangeError: k must be an integer from 1 to 4000 (the rows of points), got 0",
      end: "Error: enough",
    });
  },
);
