// The article in Chromium: every figure draws, every slider changes its figure, every task can be done, by keyboard too, and
// the six questions of a newcomer are answered.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { browserTest as test } from "../../../core/test/hosts/chromium.ts";
import { runs } from "../../../test/runs.ts";
import { questions } from "../questions.ts";
import { openSite, type Site } from "./site.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.close());

const chapters = ["lloyd", "spring", "clinics", "alpha", "sums", "strangers", "liar", "privacy"];

/** Scrolls there, and waits until its figure is drawn. */
async function reach(page: Page, chapter: string) {
  const section = page.locator(`#${chapter}`);
  // Not Playwright's own, which first waits for a frame without a move: a busy machine may draw none for a minute.
  await section.evaluate((node) => (node as unknown as { scrollIntoView(): void }).scrollIntoView());
  await expect.poll(() => section.locator('svg[aria-busy="true"]').count()).toBe(0);
  await expect.poll(() => section.locator("svg > *").count()).toBeGreaterThan(0);
  return section;
}

/** The share of two pictures' pixels that differ, decoded by the page itself. */
const differing = `async ([a, b]) => {
  const pixels = await Promise.all([a, b].map(async (encoded) => {
    const bytes = Uint8Array.from(atob(encoded), (one) => one.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    return new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
  }));
  return pixels[0].filter((pixel, at) => pixel !== pixels[1][at]).length / pixels[0].length;
}`;

async function changedShare(page: Page, before: Buffer, after: Buffer): Promise<number> {
  return Number(
    await page.evaluate(`(${differing})(${JSON.stringify([before, after].map((one) => one.toString("base64")))})`),
  );
}

describe("figures", () => {
  test.each(chapters)(
    "%s has a name for every picture, and its sliders change a hundredth of its pixels",
    async (chapter) => {
      const { page, errors } = await site.openFile("index.html");
      const section = await reach(page, chapter);
      for (const name of await section
        .locator("svg")
        .evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")))) {
        expect(name?.split(" ").length).toBeGreaterThan(5);
      }
      const figure = section.locator("figure");
      for (const slider of await section.getByRole("slider").all()) {
        const most = Number(await slider.getAttribute("max"));
        const pictures: Buffer[] = [];
        for (const position of [0, Math.floor(most / 2), most]) {
          await slider.fill(String(position));
          await page.waitForTimeout(600);
          pictures.push(
            await figure.locator("svg").first().screenshot(),
            await figure.locator("svg").last().screenshot(),
          );
        }
        for (const [from, to] of [
          [0, 2],
          [2, 4],
        ]) {
          const shares = [0, 1].map((picture) => changedShare(page, pictures[from + picture], pictures[to + picture]));
          expect(Math.max(...(await Promise.all(shares))), chapter).toBeGreaterThan(0.01);
        }
      }
      expect(errors).toEqual([]);
      await page.close();
    },
  );
});

/** What a reader does, with keys and buttons alone. */
const deeds: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  lloyd: async (page) => {
    const button = page.locator("#lloyd").getByRole("button").first();
    while (await button.isEnabled()) await button.press("Enter");
  },
  spring: (page) => turn(page, "spring", "End"),
  clinics: async (page) => {
    const button = page.getByRole("button", { name: "Try another place" });
    for (let i = 0; i < 6 && !(await isDone(page, "clinics")); i++) await button.press("Enter");
  },
  alpha: (page) => search(page, "alpha"),
  sums: (page) => turn(page, "sums", "End"),
  strangers: (page) => turn(page, "strangers", "End"),
  liar: (page) => search(page, "liar"),
  privacy: async (page) => {
    const button = page.getByRole("button", { name: "Admit one patient" });
    for (let i = 0; i < 12 && !(await isDone(page, "privacy")); i++) {
      await button.press("Enter");
      await page.waitForTimeout(400);
    }
  },
};

const isDone = async (page: Page, chapter: string) =>
  (await page.locator(`#${chapter} .task`).textContent())?.startsWith("Done.") ?? false;

async function turn(page: Page, chapter: string, key: string) {
  await page.locator(`#${chapter}`).getByRole("slider").press(key);
}

/** One stop after the other, from the left. */
async function search(page: Page, chapter: string) {
  await turn(page, chapter, "Home");
  for (let i = 0; i < 41 && !(await isDone(page, chapter)); i++) await turn(page, chapter, "ArrowRight");
}

test("every task is open at first and can be done by keyboard", async () => {
  const { page, errors } = await site.openFile("index.html");
  for (const chapter of chapters) {
    await reach(page, chapter);
    expect(await isDone(page, chapter), `${chapter} before`).toBe(false);
    await deeds[chapter](page);
    await expect.poll(() => isDone(page, chapter), { message: chapter }).toBe(true);
  }
  expect(errors).toEqual([]);
  await page.close();
});

test("a centre that is dragged is followed by its neighbour, and both come back", async () => {
  const { page, errors } = await site.openFile("index.html");
  const section = await reach(page, "spring");
  const status = section.locator(".status");
  const settled = await status.textContent();
  const drawing = section.locator("svg");
  const box = await drawing.boundingBox();
  const centre = await drawing.locator('path[fill="var(--cluster-0)"][stroke]').first().boundingBox();
  if (box === null || centre === null) throw new Error("nothing is drawn");
  const before = await drawing.screenshot();
  await page.mouse.move(centre.x + centre.width / 2, centre.y + centre.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + 60, centre.y, { steps: 5 });
  await expect.poll(() => status.textContent()).toContain("You hold a centre");
  expect((await drawing.screenshot()).equals(before)).toBe(false);
  await page.mouse.up();
  await expect.poll(() => status.textContent()).toBe(settled);
  expect(errors).toEqual([]);
  await page.close();
});

test("answers the six questions of a newcomer", async () => {
  const { page } = await site.openFile("index.html");
  const text = ((await page.locator("main").textContent()) ?? "").replaceAll(/\s+/g, " ");
  for (const { question, words } of questions) for (const word of words) expect(text, question).toMatch(word);
  await page.close();
});

test("an address of the playground from before the article leads to the playground", async () => {
  const { page } = await site.openFile("index.html#data=iso&round=2");
  await expect.poll(() => page.url()).toContain("playground.html#data=iso");
  await page.close();
});

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Every colour and width in npm test, every pair in npm run test:long. */
const looks = [
  ["dark", 1440],
  ["light", 390],
  ["light", 1440],
  ["dark", 390],
  ["light", 1920],
] as const;

test.each(looks.slice(0, runs({ short: 2, long: looks.length })))(
  "has no fault that axe finds and no sideways scroll, %s at %i pixels",
  async (colorScheme, width) => {
    const { page, errors } = await site.openFile("index.html", { colorScheme, width });
    for (const chapter of chapters) await reach(page, chapter);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await page.evaluate(axe);
    const found = (await page.evaluate("axe.run()")) as { violations: { id: string; nodes: { html: string }[] }[] };
    expect(found.violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`)).toEqual([]);
    // What is pressed with a finger is at least 44 pixels high.
    const heights = await page
      .locator("main button, main input")
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(44);
    expect(errors).toEqual([]);
    await page.close();
  },
);
