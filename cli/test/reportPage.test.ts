// The report in Chromium: a row is found by its name and said on hovering, paper unfolds everything, axe finds nothing, and
// nothing scrolls sideways, light, dark and on a phone.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { normalStream, randomStream } from "@fedkm/core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { launchChromium, browserTest as test } from "../../core/test/hosts/chromium.ts";
import { outcome, temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
const normal = normalStream(randomStream(1, "report in a browser"));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

/** Of three kinds, each with a code; the code says the kind. Many columns tell nothing. */
function specimens(count: number, columns: number): string {
  const heading = ["code", "mass", "length", "wood", ...Array.from({ length: columns }, (_, c) => `noise${c}`)];
  const rows = Array.from({ length: count }, (_, r) => {
    const kind = r % 3;
    const gap = r % 50 === 7 ? "" : (10 + 8 * kind + normal()).toFixed(3);
    const noise = Array.from({ length: columns }, () => normal().toFixed(3));
    return [
      `K${kind}-${r + 1}`,
      gap,
      (90 - 20 * kind + 2 * normal()).toFixed(2),
      ["ash", "oak", "fir"][kind],
      ...noise,
    ];
  });
  return `${[heading, ...rows].map((row) => row.join(",")).join("\n")}\n`;
}

async function reportOf(name: string, text: string, ...args: string[]): Promise<string> {
  const out = join(folder.path, name);
  const { code, stderr } = await outcome("fit", folder.file(`${name}.csv`, text), "--out", out, ...args);
  expect([code, stderr.replaceAll(/^warning: .*\n/gm, "")]).toEqual([0, ""]);
  return pathToFileURL(join(out, "report.html")).href;
}

async function opened(address: string, width = 1300, colorScheme: "light" | "dark" = "light"): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme, bypassCSP: true });
  const failures: string[] = [];
  page.on("pageerror", ({ message }) => failures.push(message));
  page.on("request", (request) => {
    if (!request.url().startsWith("file:") && !request.url().startsWith("data:")) failures.push(request.url());
  });
  await page.goto(address);
  expect(failures).toEqual([]);
  return page;
}

test("a row is found by its code, whole or in part, or by its number, with its cluster and its values", async () => {
  const text = specimens(150, 2);
  const page = await opened(await reportOf("found", text, "--k", "3", "--missing", "mean"));
  const found = () => page.locator(".found li").allTextContents();
  const lines = text
    .trim()
    .split("\n")
    .map((line) => line.split(","));
  for (const number of [1, 77, 150]) {
    const [code, mass, length, wood] = lines[number];
    await page.fill("input[type=search]", code);
    const [first] = await found();
    expect(first).toContain(`${code} (row ${number} of found.csv)`);
    expect(first).toContain("(circled below)");
    for (const [column, cell] of [
      ["length", length],
      ["mass", mass],
    ])
      expect(Number(new RegExp(`${column} ([\\d.]+)`).exec(first)?.[1])).toBeCloseTo(Number(cell), 1);
    expect(first).toContain(`wood ${wood}`);
    expect(await page.locator(".circled").count()).toBe(1);
  }
  // A gap is not said to be the mean that took its place.
  await page.fill("input[type=search]", lines[8][0]);
  expect((await found())[0]).toContain("mass not known");
  await page.fill("input[type=search]", "k1-1");
  expect((await found()).length).toBe(8);
  const [end] = lines[150][0].match(/\d+$/) ?? [];
  await page.fill("input[type=search]", `-${end}`);
  expect((await found()).join()).toContain(`${lines[150][0]} (row 150 of found.csv)`);
  await page.fill("input[type=search]", "nobody");
  expect(await found()).toEqual(["no row is called so"]);
  expect(await page.locator(".circled").count()).toBe(0);
  const mark = page.locator("[data-row]").first();
  await mark.hover({ force: true });
  const hovered = await page.locator(".tip").textContent();
  expect(hovered).toMatch(/^K\d-\d+ \(row \d+ of found\.csv\), cluster \d: /);
  await page.close();
});

test("all that is folded on the screen is unfolded on paper, and folded again", async () => {
  const page = await opened(await reportOf("folded", specimens(90, 40), "--k", "3", "--missing", "drop"));
  const open = () => page.locator("details[open]").count();
  const all = await page.locator("details").count();
  expect([await open(), all]).toEqual([0, 2]);
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  expect(await open()).toBe(all);
  await page.evaluate("dispatchEvent(new Event('afterprint'))");
  expect(await open()).toBe(0);
  await page.close();
});

test.each([
  ["light", 1300],
  ["dark", 1300],
  ["light", 390],
] as const)("axe finds nothing in a %s report %i pixels wide, and nothing sticks out", async (look, width) => {
  const address = await reportOf(
    "judged",
    specimens(90, 14),
    "--k",
    "3",
    "--device-column",
    "wood",
    "--missing",
    "drop",
  );
  const page = await opened(address, width, look);
  await page.evaluate(axe);
  const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>("axe.run()");
  expect(violations.map(({ id, nodes }) => [id, nodes[0].html])).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
  await page.close();
});
