// Screenshots of every view of the two pages, wide and on a phone, and a loop of the playground at work.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { launchChromium, serving } from "../pages.ts";
import { type Picture, readPng, writePng } from "./png.ts";

const WIDTHS = [1440, 390] as const;
/** What the loop shows: neighbours agree round by round, one of them begins to lie, and what heals when it leaves. */
const LOOP = "data=var&points=40&devices=12&start=local&seed=2&events=8:lie:3+22:leave:3";
const [LOOP_FRAMES, LOOP_MILLISECONDS] = [40, 500];

const views = {
  playground: "data=var&points=60&devices=12&seed=2&round=4",
  compared: "data=communities&graph=communities&devices=12&alpha=0.05&k=3&versus=consensus&round=6",
  learned: "devices=2&graph=path&points=40&preset=paper&data=var&seed=3&round=2",
};

/** Writes them into a folder; a browser is needed. */
export async function drawScreens(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const browser = await launchChromium();
  try {
    await drawPlayground(browser, folder);
    await drawDashboard(browser, folder);
  } finally {
    await browser.close();
  }
}

async function drawPlayground(browser: Browser, folder: string): Promise<void> {
  const { address, stop } = await serving("playground", "--port", "0");
  try {
    for (const [name, state] of Object.entries(views)) {
      for (const width of WIDTHS) {
        const page = await openAt(browser, `${address}#${state}`, width);
        await page.locator("canvas").first().waitFor();
        await keep(page, join(folder, `${name}-${width}.png`));
      }
    }
    const page = await openAt(browser, `${address}#${LOOP}`, 1280);
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

async function drawDashboard(browser: Browser, folder: string): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "fedkm-screens-"));
  const size = ["--devices", "5", "--graph", "ring", "--seed", "3"];
  const { address, stop } = await serving("up", ...size, "--state", join(home, "net"), "--dashboard", "0");
  try {
    for (const width of WIDTHS) {
      const page = await openAt(browser, address, width);
      // All five, in the table of all devices.
      await page.locator("nav td", { hasText: "settled" }).nth(4).waitFor();
      await keep(page, join(folder, `dashboard-${width}.png`));
    }
  } finally {
    await stop();
    rmSync(home, { recursive: true });
  }
}

async function openAt(browser: Browser, address: string, width: number): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height: 900 }, reducedMotion: "reduce" });
  await page.goto(address);
  return page;
}

async function keep(page: Page, file: string): Promise<void> {
  // What is drawn in a worker or by a timer comes a moment later.
  await pause(1500);
  writeFileSync(file, writePng([readPng(await page.screenshot({ fullPage: true }))]));
  await page.close();
}
