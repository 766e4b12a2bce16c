// The playground in Chromium: every control does what it says, and its numbers are those of fit in Node, to the bit.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { browserTest as test } from "../../../core/test/hosts/chromium.ts";
import { defaultSetup, type Setup, setupAddress, setupFromAddress } from "../../src/engine/setup.ts";
import { type Moment, playgroundData, story } from "../../src/engine/story.ts";
import { readOwn } from "../../src/playground/own.ts";
import { stops } from "../../src/playground/stops.ts";
import { openSite, type Site } from "./site.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.close());

function momentsOf(setup: Setup, method = setup.method): Moment[] {
  return [...story(playgroundData(setup), setup, method)];
}

type Box = Awaited<ReturnType<ReturnType<Page["locator"]>["boundingBox"]>>;

const round = (page: Page) => page.locator(".round");

/** A measure on the page, with all its digits. */
async function measure(page: Page, name: string, side = 0): Promise<number> {
  const value = await page.locator(`output[data-measure="${name}"][data-side="${side}"]`).getAttribute("data-value");
  return Number(value);
}

async function setupOf(page: Page): Promise<Setup> {
  return setupFromAddress(new URL(page.url()).hash.slice(1)).setup;
}

test("shows the numbers of fit at any moment, to the bit", async () => {
  const moments = momentsOf(defaultSetup);
  const { page, errors } = await site.open(setupAddress(defaultSetup, 3));
  await expect.poll(() => round(page).textContent()).toContain("round 3");
  expect(await measure(page, "objective")).toBe(moments[3].objective);
  expect(await measure(page, "gtv")).toBe(moments[3].totalVariation);
  expect(await measure(page, "gcd")).toBe(moments[3].deviation);
  expect(await measure(page, "cv")).toBe(moments[3].variation);
  expect(errors).toEqual([]);
  await page.close();
});

test("plays to the end, pauses, steps and goes back", async () => {
  const last = momentsOf(defaultSetup).at(-1) as Moment;
  const { page } = await site.open("data=var");
  await page.getByLabel("Rounds a second").fill("60");
  await page.getByRole("button", { name: "Play" }).click();
  await page.getByRole("button", { name: "Pause" }).waitFor();
  await page.getByRole("button", { name: "Play" }).waitFor();
  await expect.poll(() => round(page).textContent()).toContain(`round ${last.round},`);
  expect(await measure(page, "objective")).toBe(last.objective);
  await page.getByRole("button", { name: "Back", exact: true }).click();
  await expect.poll(() => round(page).textContent()).toContain(`round ${last.round - 1},`);
  await page.getByRole("button", { name: "Step" }).click();
  await expect.poll(() => round(page).textContent()).toContain(`round ${last.round},`);
  await page.getByLabel("Moment").fill("2");
  await expect.poll(() => round(page).textContent()).toContain("round 2,");
  expect(page.url()).toContain("round=2");
  await page.close();
});

test("works by keyboard: alpha is turned, and its effect is seen at the same round", async () => {
  const { page } = await site.open("round=5");
  await expect.poll(() => round(page).textContent()).toContain("round 5,");
  await page.getByRole("slider", { name: "alpha" }).focus();
  await page.keyboard.press("Home");
  await expect.poll(async () => (await setupOf(page)).alpha).toBe(0);
  const alone = momentsOf({ ...defaultSetup, alpha: 0 });
  const last = alone.find(({ round: own }) => own >= 5) ?? (alone.at(-1) as Moment);
  await expect.poll(() => measure(page, "objective")).toBe(last.objective);
  await page.getByRole("button", { name: "Back", exact: true }).focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => round(page).textContent()).toContain(`round ${last.round - 1},`);
  await page.close();
});

test("nothing moves on the page while it plays, is turned and taken from stop to stop", async () => {
  const { page } = await site.open("data=var");
  await page.evaluate(`window.shift = 0; new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) window.shift += value;
  }).observe({ type: "layout-shift" })`);
  await page.getByRole("slider", { name: "alpha" }).fill("60");
  await page.getByRole("button", { name: "Play" }).click();
  await expect.poll(() => round(page).textContent()).not.toContain("round 0,");
  // On a busy machine it may have come to its end by now.
  await page.getByRole("button", { name: /^(Pause|Play)$/ }).click();
  // Stops with as many devices: others have other panels.
  for (const title of ["Turn alpha", "Two communities"]) {
    await page.getByRole("button", { name: title }).click();
    await page.getByRole("button", { name: "Back", exact: true }).click();
  }
  expect(await page.evaluate("window.shift")).toBeLessThan(0.01);
  await page.close();
});

test("has a control for every setting, which the address holds", async () => {
  const { page } = await site.open("data=var");
  const chosen: Partial<Setup> = {
    data: "skew",
    graph: "ring",
    method: "distributed",
    versus: "local",
    start: "kmeans++",
  };
  const labels = { data: "data", graph: "graph", method: "method", versus: "beside it", start: "start" };
  for (const [name, label] of Object.entries(labels)) {
    await page.getByLabel(label, { exact: true }).selectOption(chosen[name as keyof Setup] as string);
  }
  const numbers = {
    devices: ["devices", 8],
    points: ["points each", 50],
    k: ["clusters k", 4],
    seed: ["seed", 9],
  } as const;
  for (const [label, value] of Object.values(numbers)) {
    await page.getByLabel(label, { exact: true }).fill(String(value));
    await page.keyboard.press("Tab");
  }
  await page.getByRole("slider", { name: "alpha" }).fill("0");
  await page.getByLabel("all begin anew when somebody leaves").uncheck();
  expect(await setupOf(page)).toEqual({
    ...defaultSetup,
    ...chosen,
    devices: 8,
    points: 50,
    k: 4,
    seed: 9,
    alpha: 0,
    heal: false,
  });
  for (const [label, value] of [
    ["order", "random"],
    ["penalty", "norm"],
    ["rules", "paper"],
    ["privacy", "guarded"],
  ] as const) {
    await page.getByLabel("method", { exact: true }).selectOption("fedkm");
    await page.getByLabel(label, { exact: true }).selectOption(value);
  }
  await page.getByLabel("leave out liars (robust)").check();
  const rules = { schedule: "random", penalty: "norm", preset: "paper", privacy: "guarded", robust: true };
  expect(await setupOf(page)).toMatchObject(rules);
  // Seeds of k-means++ are rows, which a guarded device may not send, and the gate is for the squared penalty: the page
  // says so until others are chosen.
  await page.locator("p[role=alert]").waitFor();
  await page.getByLabel("start", { exact: true }).selectOption("local");
  await page.getByLabel("penalty", { exact: true }).selectOption("squared");
  await page.locator("p[role=alert]").waitFor({ state: "detached" });
  await page.getByLabel("devices", { exact: true }).fill("1.5");
  await page.keyboard.press("Tab");
  expect(await page.getByRole("alert").textContent()).toBe("a whole number from 2 to 1000");
  expect(await setupOf(page)).toMatchObject({ devices: 8 });
  await page.close();
});

test("shows two methods side by side on the same data", async () => {
  const setup: Setup = { ...defaultSetup, versus: "consensus" };
  const { page, errors } = await site.open(setupAddress(setup, 4));
  await expect.poll(() => round(page).textContent()).toContain("round 4");
  await expect.poll(() => page.locator("figure .panels").count()).toBe(2);
  const other = momentsOf(setup, "consensus");
  await expect.poll(() => measure(page, "objective", 1)).toBe(other[Math.min(4, other.length - 1)].objective);
  expect(errors).toEqual([]);
  await page.close();
});

test("draws the same address with the same pixels, however the reader came there", async () => {
  const address = "data=aniso&devices=9&graph=ring&events=2:cut:0-1+3:kill:5";
  const goThere = [
    () => site.open(`${address}&round=4`),
    async () => {
      const opened = await site.open(address);
      for (let i = 0; i < 6; i++) await opened.page.getByRole("button", { name: "Step" }).click();
      for (let i = 0; i < 2; i++) await opened.page.getByRole("button", { name: "Back", exact: true }).click();
      return opened;
    },
  ];
  const drawn = await Promise.all(
    goThere.map(async (go) => {
      const { page } = await go();
      await expect.poll(() => round(page).textContent()).toContain("round 4,");
      await page.locator("h1").click();
      await page.mouse.move(0, 0);
      await page.evaluate(async () => void (await document.fonts.ready));
      const pictures = [page.locator(".panels"), page.locator(".map")].map((part) => part.screenshot());
      const drawn = Buffer.concat(await Promise.all(pictures));
      await page.close();
      return drawn;
    }),
  );
  expect(drawn[0].equals(drawn[1])).toBe(true);
});

test("reads the reader's own file, and says what is wrong with one", async () => {
  const rows = Array.from(
    { length: 90 },
    (_, r) => `${(r % 3) * 10 + Math.sin(r)},${(r % 3) * 5 + Math.cos(r)},${r % 7}`,
  );
  const { page } = await site.open("data=var");
  const file = (text: string) => ({ name: "own.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
  await page.getByLabel("own file").setInputFiles(file(`a,b,c\n${rows.join("\n")}\n`));
  await expect.poll(() => page.locator(".settings").textContent()).toContain("own.csv, read here and sent nowhere.");
  expect(await setupOf(page)).toMatchObject({ data: "own", devices: 12 });
  await expect.poll(() => measure(page, "objective")).toBeGreaterThan(0);
  await page.getByLabel("own file").setInputFiles(file('a,b\n"1,2\n3'));
  await expect.poll(() => page.getByRole("alert").textContent()).toContain("own.csv");
  await page.close();
});

test("reads a Parquet file that is dropped on the page, with the numbers of Node", async () => {
  const name = "snappy.parquet";
  const bytes = readFileSync(new URL(`../../../files/test/fixtures/${name}`, import.meta.url));
  const { page, errors } = await site.open("devices=4");
  await dropOnPage(page, name, bytes);
  await expect.poll(() => page.locator(".settings").textContent()).toContain(`${name}, read here and sent nowhere.`);
  const setup = await setupOf(page);
  // Of ten rows: to four devices there would be fewer than k each.
  expect(setup).toMatchObject({ data: "own", devices: 3 });
  const own = await readOwn([new File([bytes], name)], 4, setup.k);
  const [start] = story(playgroundData(setup, own.datasets), setup, setup.method);
  await expect.poll(() => measure(page, "objective")).toBe(start.objective);
  await dropOnPage(page, "cut.parquet", bytes.subarray(0, 100));
  await expect.poll(() => page.getByRole("alert").textContent()).toContain("cut.parquet");
  expect(errors).toEqual([]);
  await page.close();
});

async function dropOnPage(page: Page, name: string, bytes: Uint8Array): Promise<void> {
  await page.evaluate(`{
    const dataTransfer = new DataTransfer();
    const bytes = Uint8Array.from(atob("${Buffer.from(bytes).toString("base64")}"), (one) => one.charCodeAt(0));
    dataTransfer.items.add(new File([bytes], "${name}"));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  }`);
}

describe("what happens to a device", () => {
  test.each([
    ["Stop", "kill"],
    ["Let it lie", "lie"],
    ["Let it leave", "leave"],
    ["Start wrong", "wrong"],
  ])("%s is an event at the round that is shown", async (button, kind) => {
    const { page, errors } = await site.open("round=2");
    await expect.poll(() => round(page).textContent()).toContain("round 2");
    await page.getByLabel("device", { exact: true }).selectOption("3");
    await page.getByRole("button", { name: button }).click();
    const event = { round: kind === "wrong" ? 0 : 2, kind, device: 3 };
    await expect.poll(async () => (await setupOf(page)).events).toEqual([event]);
    const expected = momentsOf({ ...defaultSetup, events: [event as Setup["events"][number]] });
    await expect
      .poll(() => measure(page, "objective"))
      .toBe(expected.find(({ round }) => round === event.round)?.objective);
    await page.getByRole("button", { name: "take back" }).click();
    await expect.poll(async () => (await setupOf(page)).events).toEqual([]);
    expect(errors).toEqual([]);
    await page.close();
  });

  test("links are cut and made", async () => {
    const { page } = await site.open("graph=ring");
    await page.getByLabel("device", { exact: true }).selectOption("0");
    await page.getByLabel("and device").selectOption("1");
    await page.getByRole("button", { name: "Cut the link" }).click();
    await expect.poll(async () => (await setupOf(page)).events).toEqual([{ round: 0, kind: "cut", ends: [0, 1] }]);
    await page.getByRole("button", { name: "Link them" }).click();
    await expect.poll(async () => (await setupOf(page)).events.length).toBe(2);
    await page.close();
  });

  test("on the map a device is moved, a click on a link cuts it, and a device dropped on another is linked", async () => {
    const { page } = await site.open("graph=ring&devices=4");
    const map = page.getByLabel("Devices and their links");
    const nodes = map.locator("circle:not(.target)");
    const middle = async (device: number) => {
      const { x, y, width, height } = (await nodes.nth(device).boundingBox()) as NonNullable<Box>;
      return [x + width / 2, y + height / 2] as const;
    };
    const drag = async (from: readonly [number, number], to: readonly [number, number]) => {
      await page.mouse.move(...from);
      await page.mouse.down();
      await page.mouse.move(...to, { steps: 4 });
      await page.mouse.up();
    };
    const [first, second, third] = [await middle(0), await middle(1), await middle(2)];
    const aside = [first[0] + 40, first[1] + 30] as const;
    await drag(first, aside);
    expect((await middle(0)).map(Math.round)).toEqual(aside.map(Math.round));
    await drag(aside, third);
    await expect.poll(async () => (await setupOf(page)).events).toEqual([{ round: 0, kind: "link", ends: [0, 2] }]);
    expect((await middle(0)).map(Math.round)).toEqual(aside.map(Math.round));
    await page.mouse.click((second[0] + third[0]) / 2, (second[1] + third[1]) / 2);
    await expect.poll(async () => (await setupOf(page)).events.length).toBe(2);
    expect((await setupOf(page)).events[1]).toEqual({ round: 0, kind: "cut", ends: [1, 2] });
    await page.close();
  });
});

test("has six stops, each a saved state with its words", async () => {
  const { page, errors } = await site.open("data=var");
  expect(stops.length).toBe(6);
  for (const { title, words, setup, round: at } of stops) {
    await page.getByRole("button", { name: title }).click();
    expect(await page.locator(".words").textContent()).toBe(words);
    expect(await setupOf(page)).toEqual(setup);
    const moments = momentsOf(setup);
    const expected = moments.find(({ round }) => round >= at) ?? (moments.at(-1) as Moment);
    await expect.poll(() => measure(page, "objective")).toBe(expected.objective);
    const { page: shared } = await site.open(new URL(page.url()).hash.slice(1));
    expect(await shared.locator(".words").textContent()).toBe(words);
    await expect.poll(() => measure(shared, "objective")).toBe(expected.objective);
    await shared.close();
  }
  expect(errors).toEqual([]);
  await page.close();
});

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

test.each([
  ["light", 1440],
  ["dark", 1440],
  ["light", 390],
] as const)("has no serious fault for people who cannot see or point, %s at %i pixels", async (colorScheme, width) => {
  const { page } = await site.open("round=2&versus=local&events=1:lie:2", { colorScheme, width });
  await expect.poll(() => round(page).textContent()).toContain("round 2");
  // The page's own rules allow no foreign script; the test's way in is the debugger.
  const faults = await page.evaluate(`${axe}; axe.run().then(({ violations }) => violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`);
  expect(faults).toEqual([]);
  // Nothing is wider than the screen.
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
  await page.close();
});
