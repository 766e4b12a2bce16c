// The dashboard in each of its states, with devices that really run: all of a machine, one, one in trouble, a private one.

import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { paperData, toRows } from "@fedkm/core";
import type { Page } from "playwright-core";
import { fedkm, running, serving } from "../pages.ts";

const examples = fileURLToPath(new URL("../../../examples", import.meta.url));
/** A private device's second release comes a minute after its start. */
const PATIENCE_MILLISECONDS = 180_000;

/** Keeps what an address shows, by the name of the view, when `ready` has come. */
export type Keep = (view: string, address: string, ready: (page: Page) => Promise<unknown>) => Promise<void>;

export async function drawDashboards(keep: Keep): Promise<void> {
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
