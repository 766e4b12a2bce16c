// The kernel in Chromium, with and without cross-origin isolation: the bits of the reference, the bytes of Node.

import { fileURLToPath } from "node:url";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createViteServer } from "vitest/node";
import { findChromium } from "./chromium.ts";
import { type HostReport, hashes, PINNED } from "./suite.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const ISOLATION = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };
// Nothing that calls home, draws or asks: the test needs the engine only. Playwright makes a fresh profile and deletes it.
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** Long enough to install Chromium once. */
const SET_UP_TIME = 300_000;

let browser: Browser;

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: findChromium(), headless: true, args: FLAGS });
}, SET_UP_TIME);

afterAll(() => browser?.close());

/** Serves the sources as they are, transformed file by file, and runs the suite in a page. */
async function reportOfPage(headers: Record<string, string>): Promise<HostReport> {
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
    const answer: HostReport = await page.evaluate(
      'import("/core/test/hosts/suite.ts").then(({ report }) => report())',
    );
    await page.close();
    return answer;
  } finally {
    await server.close();
  }
}

test.each([
  ["with", ISOLATION, true],
  ["without", {}, false],
])("Chromium %s cross-origin isolation has the bits of the reference and of Node", async (_, headers, isIsolated) => {
  const answer = await reportOfPage(headers);
  expect(answer).toEqual({ hasSimd: true, isIsolated, differences: [], hashes: await hashes() });
  expect(answer.hashes).toMatchObject(PINNED);
});
