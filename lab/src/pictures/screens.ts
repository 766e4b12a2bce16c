// Screenshots of every view of the two pages, wide and on a phone, light and dark, and a loop of the playground at work.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { launchChromium, serving } from "../pages.ts";
import { drawDashboards, type Keep } from "./dashboards.ts";
import { type Picture, readPng, writePng } from "./png.ts";

const looks = [
  { look: "1440", width: 1440, colorScheme: "light" },
  { look: "1440-dark", width: 1440, colorScheme: "dark" },
  { look: "390", width: 390, colorScheme: "light" },
  { look: "390-dark", width: 390, colorScheme: "dark" },
] as const;

/** What the loop shows: neighbours agree round by round, one of them begins to lie, and what heals when it leaves. */
const LOOP = "data=var&points=40&devices=12&start=local&seed=2&events=8:lie:3+22:leave:3";
const [LOOP_FRAMES, LOOP_MILLISECONDS] = [40, 500];

const trees = fileURLToPath(new URL("../../../examples/trees.csv", import.meta.url));

/** A state of the playground, and what is done there before it is kept. */
const views: Readonly<Record<string, readonly [state: string, done?: (page: Page) => Promise<unknown>]>> = {
  playground: ["data=var&points=60&devices=12&seed=2&round=4"],
  "stop-1": ["", (page) => visit(page, "Alone is not enough")],
  "stop-2": ["", (page) => visit(page, "Turn alpha", 3)],
  "stop-3": ["", (page) => visit(page, "One bad start", 6)],
  "stop-4": ["", (page) => visit(page, "Two communities", 6)],
  "stop-5": ["", (page) => visit(page, "What a neighbour can learn")],
  "stop-6": ["", (page) => visit(page, "A liar", 30)],
  compared: ["data=communities&graph=communities&devices=12&alpha=0.01&k=3&versus=consensus&round=6"],
  thousand: ["devices=1000&points=50&graph=ring&round=3"],
  own: ["devices=6", (page) => page.getByLabel("own file").setInputFiles(trees)],
};

async function visit(page: Page, title: string, steps = 0): Promise<void> {
  await page.getByRole("button", { name: title }).click();
  for (let i = 0; i < steps; i++) await page.getByRole("button", { name: "Step" }).click();
}

/** Writes them into a folder; a browser is needed. */
export async function drawScreens(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const browser = await launchChromium();
  const keep: Keep = async (view, address, ready) => {
    for (const { look, width, colorScheme } of looks) {
      const page = await openAt(browser, address, width, colorScheme);
      await ready(page);
      await keepPage(page, join(folder, `${view}-${look}.png`));
    }
    console.log(view);
  };
  try {
    await drawPlayground(browser, folder, keep);
    await drawDashboards(keep);
  } finally {
    await browser.close();
  }
}

async function drawPlayground(browser: Browser, folder: string, keep: Keep): Promise<void> {
  const { address, stop } = await serving("playground", "--port", "0");
  try {
    for (const [name, [state, done]] of Object.entries(views)) {
      await keep(name, `${address}#${state}`, async (page) => {
        await page.locator("canvas").first().waitFor();
        await done?.(page);
      });
    }
    const page = await openAt(browser, `${address}#${LOOP}`, 1280, "light");
    await page.locator("canvas").first().waitFor();
    const frames: Picture[] = [];
    while (frames.length < LOOP_FRAMES) {
      await pause(150);
      frames.push(readPng(await page.screenshot()));
      const step = page.getByRole("button", { name: "Step" });
      if (await step.isEnabled()) await step.click();
    }
    writeFileSync(join(folder, "loop.png"), writePng(frames, LOOP_MILLISECONDS));
    await page.close();
  } finally {
    await stop();
  }
}

async function openAt(browser: Browser, address: string, width: number, colorScheme: "light" | "dark"): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme, reducedMotion: "reduce" });
  await page.goto(address);
  return page;
}

async function keepPage(page: Page, file: string): Promise<void> {
  // What is drawn in a worker or by a timer comes a moment later.
  await pause(1500);
  writeFileSync(file, writePng([readPng(await page.screenshot({ fullPage: true }))]));
  await page.close();
}
