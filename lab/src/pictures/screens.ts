// Screenshots of every view of the two pages, wide and on a phone, light and dark, and a loop of the playground at work.

import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { paperData, toRows } from "@fedkm/core";
import type { Browser, Page } from "playwright-core";
import { fedkm, launchChromium, running, serving } from "../fedkm.ts";
import { type Picture, readPng, writePng } from "./png.ts";

// The dashboard in each of its states, with devices that really run: all of a machine, one, one in trouble, a private one.

const examples = fileURLToPath(new URL("../../../examples", import.meta.url));
/** A private device's second release comes a minute after its start. */
const PATIENCE_MILLISECONDS = 180_000;

/** Keeps what an address shows, by the name of the view, when `ready` has come. */
type Keep = (view: string, address: string, ready: (page: Page) => Promise<unknown>) => Promise<void>;

async function drawDashboards(keep: Keep): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "fedkm-screens-"));
  try {
    await overview(keep, join(home, "net"));
    await plants(keep, home);
    await privateRows(keep, home);
  } finally {
    rmSync(home, { recursive: true });
  }
}

/** All devices, in the table of those of a machine. */
const allSettled = (devices: number) => (page: Page) =>
  page
    .locator("nav td", { hasText: "settled" })
    .nth(devices - 1)
    .waitFor();

async function overview(keep: Keep, state: string): Promise<void> {
  const size = ["--devices", "5", "--graph", "ring", "--seed", "3"];
  const { address, stop } = await serving("up", ...size, "--state", state, "--dashboard", "0");
  try {
    await keep("dashboard", address, allSettled(5));
  } finally {
    await stop();
  }
}

/** Three gardens; the third links the first, which has unlinked it, and then the second stops. */
async function plants(keep: Keep, home: string): Promise<void> {
  const [study, state] = [join(home, "plants.yaml"), join(home, "plants")];
  const features = ["height_cm:0:150", "leaf_mm:0:80", "flowering_day:60:260", "stem_g:0:80"];
  fedkm("study", "init", "--name", "plants", "--feature", ...features, "--out", study);
  const [heading, ...north] = readFileSync(join(examples, "north.csv"), "utf8").trim().split("\n");
  const data = [north.slice(0, 60), north.slice(60)].map((rows, i) => {
    const file = join(home, `garden-${i}.csv`);
    writeFileSync(file, `${[heading, ...rows].join("\n")}\n`);
    return file;
  });
  const network = ["--study", study, "--graph", "ring", "--state", state, "--until-settled"];
  fedkm("up", "--data", ...data, join(examples, "south.csv"), ...network);
  const devices = [1, 2, 3].map((device) => {
    const page = device === 1 ? ["--dashboard", "0"] : [];
    return running("device", "run", "--state", join(state, `device-${device}`), ...page);
  });
  try {
    // Its first line says that the page is served.
    await once(devices[0].child.stderr, "data");
    const address = fedkm("device", "dashboard", "--state", join(state, "device-1")).trim();
    await keep("device", address, async (page) => {
      await phase(page, "settled");
      await page.locator("tbody tr", { hasText: "high height_cm" }).getByRole("button").click();
      await page.getByRole("textbox").fill("tall");
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: /^Name cluster \d, now tall$/ }).waitFor();
    });
    await devices[1].stop();
    await keep("notices", address, async (page) => {
      await page.locator('[data-field="phase"]').waitFor();
      const [unlink, pauses] = ["Unlink device-3", "Pause"].map((own) => page.getByRole("button", { name: own }));
      if (await unlink.isVisible()) await unlink.click();
      if (await pauses.isVisible()) await pauses.click();
      await phase(page, "paused");
      await page.getByRole("button", { name: /^Accept / }).waitFor();
      await page.getByText("not connected").waitFor();
    });
  } finally {
    await Promise.all([devices[0], devices[2]].map((device) => device.stop()));
  }
}

function phase(page: Page, of: string): Promise<void> {
  return page.locator('[data-field="phase"]', { hasText: of }).waitFor({ timeout: PATIENCE_MILLISECONDS });
}

async function privateRows(keep: Keep, home: string): Promise<void> {
  const study = join(home, "private.yaml");
  const size = ["--privacy", "private", "--typical-rows", "800"];
  fedkm("study", "init", "--name", "wards", "--feature", "x:-13:13", "y:-13:13", ...size, "--out", study);
  const data = paperData("iso", 3, 800, 1).datasets.map((rows, i) => {
    const file = join(home, `ward-${i}.csv`);
    writeFileSync(file, `x,y\n${toRows(rows).join("\n")}\n`);
    return file;
  });
  const network = ["--study", study, "--graph", "ring", "--state", join(home, "private")];
  const { address, stop } = await serving("up", "--data", ...data, ...network, "--dashboard", "0");
  try {
    await keep("private", address, async (page) => {
      const released = page.locator('[data-field="ledger"]', { hasText: "the means of the clusters" });
      await released.waitFor({ timeout: PATIENCE_MILLISECONDS });
      await allSettled(3)(page);
    });
  } finally {
    await stop();
  }
}

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
