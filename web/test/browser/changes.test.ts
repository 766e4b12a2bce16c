// The playground in Chromium, changed from state to state as a person changes it: what is shown is what a fresh page shows.

import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { browserTest as test } from "../../../core/test/hosts/chromium.ts";
import { stops } from "../../src/playground/stops.ts";
import { openSite, type Site } from "./site.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.close());

async function type(page: Page, label: string, value: number): Promise<void> {
  await page.getByLabel(label, { exact: true }).fill(String(value));
  await page.keyboard.press("Tab");
}

/** Panels and map, once what was asked for is shown. */
async function picture(page: Page): Promise<Buffer> {
  await page.locator('.sides[aria-busy="false"]').waitFor();
  await page.locator("h1").click();
  await page.mouse.move(0, 0);
  const parts = [page.locator(".sides"), page.locator(".map")];
  return Buffer.concat(await Promise.all(parts.map((part) => part.screenshot())));
}

async function freshPicture(page: Page): Promise<Buffer> {
  const { page: fresh } = await site.open(new URL(page.url()).hash.slice(1));
  const drawn = await picture(fresh);
  await fresh.close();
  return drawn;
}

test("devices that are typed, more and fewer in turn, are drawn as a fresh page draws them", async () => {
  const { page, errors } = await site.open("data=var&graph=ring");
  for (const devices of [100, 12, 200, 2]) {
    await type(page, "devices", devices);
    const drawn = await picture(page);
    expect(errors).toEqual([]);
    expect(drawn.equals(await freshPicture(page)), `${devices} devices`).toBe(true);
  }
  await page.close();
});

test("two files that are dropped are two devices with a link, and devices without one are named", async () => {
  const files = ["north", "south"].map((name) =>
    fileURLToPath(new URL(`../../../examples/${name}.csv`, import.meta.url)),
  );
  const { page, errors } = await site.open("data=var");
  await page.getByLabel("own file").setInputFiles(files);
  await expect.poll(() => page.url()).toContain("data=own");
  await page.getByRole("button", { name: "Step" }).click();
  await expect.poll(() => page.locator(".round").textContent()).not.toContain(" 0 messages");
  expect(await page.getByRole("status").filter({ hasText: "no link" }).count()).toBe(0);
  await page.getByLabel("graph", { exact: true }).selectOption("er");
  await type(page, "density", 0);
  await expect.poll(() => page.locator("p[role=status]").textContent()).toContain("2 of 2 devices have no link");
  expect(errors).toEqual([]);
  await page.close();
});

test("1,000 devices that are typed begin on a ring within seconds", async () => {
  const { page, errors } = await site.open("data=var");
  await type(page, "devices", 1000);
  const begun = performance.now();
  await page.locator('[aria-label*="of 1000 devices"]').waitFor();
  expect(performance.now() - begun).toBeLessThan(6000);
  expect(await page.getByLabel("graph", { exact: true }).inputValue()).toBe("ring");
  expect(errors).toEqual([]);
  await page.close();
});

test("a network that takes minutes is left at once, by another choice and by Cancel", async () => {
  const { page, errors } = await site.open("data=var&devices=1000&graph=ring");
  const shown = (devices: number) => page.locator(`[aria-label*="of ${devices} devices"]`).waitFor({ timeout: 10_000 });
  await page.getByLabel("graph", { exact: true }).selectOption("er");
  await page.waitForTimeout(2000);
  await type(page, "devices", 12);
  await shown(12);
  await page.goto(`${page.url().split("#")[0]}#data=var&devices=1000&graph=er&round=5`);
  const cancel = page.getByRole("button", { name: "Cancel" });
  await cancel.click();
  await cancel.waitFor({ state: "detached", timeout: 10_000 });
  await shown(12);
  expect(page.url()).not.toContain("1000");
  expect(errors).toEqual([]);
  await page.close();
});

/** The share of the panels' pixels that are others than when this was last called. */
const changedShare = `(() => {
  const pixels = [...document.querySelectorAll(".panels canvas")].map((canvas) =>
    new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer));
  const before = window.pixels ?? pixels;
  window.pixels = pixels;
  return Math.max(...pixels.map((now, i) => now.filter((pixel, at) => pixel !== before[i][at]).length / now.length));
})()`;

test("the first screen, and any state at its first round, shows what alpha changes", async () => {
  const opened = await Promise.all(["", "data=iso"].map((address) => site.open(address)));
  for (const { page, errors } of opened) {
    const alpha = page.getByRole("slider", { name: "alpha" });
    await picture(page);
    await page.evaluate(changedShare);
    // Not 0 first: devices that begin alone settle there where they are.
    for (const position of ["1", "0", "40", "120"]) {
      const before = await picture(page);
      await alpha.fill(position);
      expect((await picture(page)).equals(before), `position ${position}`).toBe(false);
    }
    expect(page.url()).toContain("round=end");
    expect((await picture(page)).equals(await freshPicture(page))).toBe(true);
    expect(errors).toEqual([]);
    await page.close();
  }
});

test.each(stops.map(({ title }) => title))("alpha changes a hundredth of the pixels at the stop: %s", async (title) => {
  const { page } = await site.open("data=var");
  await page.getByRole("button", { name: title }).click();
  await page.getByRole("slider", { name: "alpha" }).fill("0");
  await picture(page);
  await page.evaluate(changedShare);
  await page.getByRole("slider", { name: "alpha" }).fill("120");
  await picture(page);
  expect(await page.evaluate(changedShare)).toBeGreaterThan(0.01);
  await page.close();
});

test("the address holds the round after Play and Pause, and after the end", async () => {
  const { page } = await site.open("data=var");
  await page.getByRole("button", { name: "Play" }).click();
  await expect.poll(() => page.locator(".round").textContent()).not.toContain("round 0,");
  await page.getByRole("button", { name: "Pause" }).click();
  const shown = await page.locator(".round").textContent();
  expect(shown).toContain(`round ${new URLSearchParams(new URL(page.url()).hash.slice(1)).get("round")},`);
  await page.getByLabel("Rounds a second").fill("60");
  await page.getByRole("button", { name: "Play" }).click();
  await expect.poll(() => page.url(), { timeout: 20_000 }).toContain("round=end");
  await page.close();
});

test("changes are undone and redone, by button, keys and the browser's Back, and a slider that is drawn is one change", async () => {
  const { page, errors } = await site.open("data=var&devices=6");
  const [undo, redo] = ["Undo", "Redo"].map((name) => page.getByRole("button", { name, exact: true }));
  expect(await undo.isDisabled()).toBe(true);
  const first = await picture(page);
  await page.getByLabel("graph", { exact: true }).selectOption("ring");
  const ring = await picture(page);
  for (const position of ["10", "60", "110"]) await page.getByRole("slider", { name: "alpha" }).fill(position);
  const turned = await picture(page);
  await page.getByRole("button", { name: "Let it leave" }).click();
  await picture(page);
  await undo.click();
  await expect.poll(() => page.url()).not.toContain("events");
  expect((await picture(page)).equals(turned)).toBe(true);
  await page.keyboard.press("Control+z");
  await expect.poll(() => page.url()).not.toContain("alpha");
  expect((await picture(page)).equals(ring)).toBe(true);
  await page.goBack();
  await expect.poll(() => page.url()).not.toContain("graph");
  expect((await picture(page)).equals(first)).toBe(true);
  expect(await undo.isDisabled()).toBe(true);
  await redo.click();
  await page.keyboard.press("Control+y");
  await expect.poll(() => page.url()).toContain("alpha");
  expect((await picture(page)).equals(turned)).toBe(true);
  expect(errors).toEqual([]);
  await page.close();
});

test("the gate leaves a liar out, and guarded rows are another run", async () => {
  const lying = "devices=6&graph=complete&events=3%3Alie%3A0&round=40";
  const deviation = async (address: string) => {
    const { page, errors } = await site.open(address);
    await picture(page);
    const value = await page.locator('output[data-measure="gcd"]').first().getAttribute("data-value");
    expect(errors).toEqual([]);
    await page.close();
    return Number(value);
  };
  expect(await deviation(`${lying}&robust=true`)).toBeLessThan(0.2 * (await deviation(lying)));
  expect(await deviation("data=var&privacy=guarded&round=end")).not.toBe(await deviation("data=var&round=end"));
});

test("a file's columns, decimal sign and devices can be chosen, a refusal is cured there, and a reload keeps the file", async () => {
  const rows = Array.from(
    { length: 60 },
    (_, i) => `${i};${"NSW"[i % 3]};${Math.sin(i).toFixed(2).replace(".", ",")};${i % 7}`,
  );
  const text = `id;clinic;x;y\n${rows.join("\n")}\n`;
  const { page, errors } = await site.open("data=var");
  await page.getByLabel("own file").setInputFiles({ name: "own.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
  const columns = page.getByRole("group", { name: "Columns" });
  await columns.waitFor();
  await expect.poll(() => page.url()).toContain("devices=3");
  expect(await columns.getByRole("checkbox", { checked: true }).count()).toBe(2);
  expect(await columns.textContent()).toContain("id:");
  await page.getByLabel("device is").selectOption("");
  await expect.poll(() => page.url()).not.toContain("devices=3");
  for (const name of ["x", "y"]) await columns.getByLabel(name, { exact: true }).uncheck();
  await page.getByText("choose at least one column of numbers below").waitFor();
  await columns.getByLabel("y", { exact: true }).check();
  await page.locator("p[role=alert]").waitFor({ state: "detached" });
  const drawn = await picture(page);
  await page.reload();
  await columns.waitFor();
  expect((await picture(page)).equals(drawn)).toBe(true);
  expect(errors).toEqual([]);
  await page.close();
});
