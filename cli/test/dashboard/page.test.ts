// The dashboard in Chromium against real devices: what it shows is what they wrote, and what it is asked for is done.

import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { clusterNames, performAction, readAudit } from "@fedkm/device/daemon";
import { countLabel, significantLabel } from "@fedkm/pictures";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { browserTest as test } from "../../../core/test/hosts/chromium.ts";
import { eventually } from "../../../test/eventually.ts";
import { outcome } from "../folder.ts";
import { Machine } from "./machine.ts";

const machine = new Machine();
/** Devices write below the machine's folder as long as they do anything. */
const until = <T>(check: () => T | Promise<T>) => eventually(check, machine.path);
const hostile = '<img src=x onerror="window.wasRun=1">\u202egnorw';

beforeAll(async () => {
  await machine.start();
  await machine.startPrivate();
  await until(() => {
    for (const name of ["north", "south"]) expect(machine.status(name).device.phase).toBe("settled");
  });
  // A device that does not run, all of whose words are somebody else's.
  const { links, notices, ...status } = machine.status("south");
  cpSync(machine.at("east"), machine.at("west"), { recursive: true });
  const since = status.startedAt;
  const words = {
    ...status,
    name: hostile,
    links: links.map((link) => ({ ...link, name: hostile, isConnected: false, failure: hostile })),
    notices: [{ cause: "proposal", link: hostile, text: hostile, since, until: null }],
    pending: [{ peer: "12D3KooWhostile", address: hostile, attempts: 1, firstAt: since, lastAt: since }],
  };
  writeFileSync(join(machine.at("west"), "status.json"), JSON.stringify(words));
  await machine.serve("north", "vault", "south", "west");
});
afterAll(() => machine.close());

const field = (page: Page, name: string) => page.locator(`[data-field="${name}"]`).textContent();
const shows = (page: Page, device: string) => page.getByRole("button", { name: device, exact: true }).click();
const phase = (page: Page, expected: string) => until(async () => expect(await field(page, "phase")).toBe(expected));
const section = (page: Page, name: string) => page.getByRole("region", { name });

async function events(name: string): Promise<string[]> {
  return (await readAudit(machine.at(name))).lines.map(({ event }) => event);
}

test("shows what the device wrote: numbers, clusters, neighbours, privacy and the audit log; it asks nobody else", async () => {
  const { page, foreign } = await machine.open();
  expect(page.url()).not.toContain("#");
  for (const name of ["south", "north"]) {
    await shows(page, name);
    await until(async () => {
      const { device, links } = machine.status(name);
      const seen = {
        heading: (await page.locator("h2.name").textContent())?.split(" ")[0],
        ...Object.fromEntries(
          await Promise.all(
            ["phase", "objective", "move", "round", "rows"].map(async (one) => [one, await field(page, one)]),
          ),
        ),
        clusters: await section(page, "Clusters").locator("[data-value]").allTextContents(),
        neighbours: await section(page, "Neighbours").locator("h3").allTextContents(),
        bytes: (await section(page, "Neighbours").locator("li").first().textContent())?.match(/[\d,]+ k?B sent/)?.[0],
      };
      const { objective, move, round, rows, centroids } = device;
      const bytes = links[0].sent.bytes;
      const expected = {
        heading: name,
        phase: device.phase,
        objective: significantLabel(objective ?? Number.NaN, 4),
        move: significantLabel(move ?? Number.NaN, 4),
        round: countLabel(round),
        rows: countLabel(rows),
        clusters: centroids?.flat().map((value) => significantLabel(value, 4)),
        neighbours: links.map((link) => link.name),
        bytes: bytes < 10_000 ? `${bytes} B sent` : `${Math.round(bytes / 1000)} kB sent`,
      };
      expect(seen).toEqual(expected);
    });
  }
  const privacy = await section(page, "Privacy").textContent();
  expect(privacy).toContain("Privacy: open");
  expect(privacy).toContain("single rows: only for data that may be public");
  expect(privacy).toMatch(/own rows\d+\.\d standard errors/);
  const lines = (await readAudit(machine.at("north"))).lines.toReversed();
  const log = await section(page, "Audit log").locator("li").allTextContents();
  expect(log.length).toBe(lines.length);
  for (const [i, { event }] of lines.entries()) expect(log[i]).toContain(event);
  expect(foreign).toEqual([]);
  await page.close();
});

test("shows what the own rows of every cluster are like, by their definition", async () => {
  const { page } = await machine.open();
  await shows(page, "north");
  const lines = readFileSync(machine.at("north.csv"), "utf8").trim().split("\n").slice(1);
  const rows = lines.map((line) => line.split(",").map(Number));
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const spread = (values: readonly number[]) => Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2)));
  const column = (own: readonly number[][], f: number) => own.map((row) => row[f]);
  await until(async () => {
    const centroids = machine.status("north").device.centroids ?? [];
    const nearest = (row: readonly number[]) => {
      const away = centroids.map(([x, y]) => Math.hypot(row[0] - x, row[1] - y));
      return away.indexOf(Math.min(...away));
    };
    const expected = centroids.flatMap((_, c) => {
      const own = rows.filter((row) => nearest(row) === c);
      const apart = [0, 1]
        .map((f) => ({ f, by: (mean(column(own, f)) - mean(column(rows, f))) / spread(column(rows, f)) }))
        .filter(({ by }) => Math.abs(by) >= 0.5)
        .sort((a, b) => Math.abs(b.by) - Math.abs(a.by))
        .map(({ f, by }) => `${by > 0 ? "high" : "low"} x${f + 1}`);
      const parts = [0, 1].map((f) => {
        return `rows ${significantLabel(mean(column(own, f)), 4)} ± ${significantLabel(spread(column(own, f)), 2)}`;
      });
      return [`${own.length} (${Math.round((100 * own.length) / rows.length)} %)`, ...parts, apart.join(", ")];
    });
    const shown = await section(page, "Clusters").locator("td.own, td small").allTextContents();
    expect(shown).toEqual(expected);
  });
  await page.close();
});

test("shows the ledger of a private device as its status file has it: both releases, changed rows, and consent to them", async () => {
  const { page } = await machine.open();
  await shows(page, "vault");
  const ledger = async (about: RegExp) => {
    await until(async () => {
      const { private: status } = machine.status("vault").device;
      if (status === null) throw new Error("no ledger in the status file");
      const { epsilonSpent, epsilonLifetime, delta, releases } = status;
      const expected = {
        epsilonSpent: significantLabel(epsilonSpent, 3),
        epsilonLifetime: significantLabel(epsilonLifetime, 3),
        delta: delta.toExponential(),
        releases: countLabel(releases),
        bar: epsilonSpent / epsilonLifetime,
      };
      const names = ["epsilonSpent", "epsilonLifetime", "delta", "releases"];
      const meter = page.getByRole("meter", { name: "Epsilon spent" });
      const [whole, spent] = [await meter.boundingBox(), await meter.locator("div").boundingBox()];
      const seen = {
        ...Object.fromEntries(await Promise.all(names.map(async (one) => [one, await field(page, one)]))),
        bar: (spent?.width ?? 0) / (whole?.width ?? 1),
      };
      expect(await field(page, "ledger")).toMatch(about);
      expect(seen).toEqual({ ...expected, bar: expect.closeTo(expected.bar, 2) });
    });
    return machine.status("vault").device.private;
  };
  const isAlarm = () => page.locator('[data-field="ledger"]').evaluate((words) => words.classList.contains("alarm"));
  expect(await ledger(/^Neighbours see only what follows from the means .* cost nothing more/)).toMatchObject({
    releases: 2,
    epsilonLifetime: 4,
  });
  expect(await isAlarm()).toBe(false);
  machine.writeRows("vault", 7);
  expect(await ledger(/^The data have changed since .* needs your consent/)).toMatchObject({ releases: 2 });
  expect(await isAlarm()).toBe(true);
  expect(await section(page, "Notices").textContent()).toContain("the data are others than those that were released");
  expect(await outcome("device", "consent", "--state", machine.at("vault"))).toMatchObject({ code: 0 });
  const renewed = await ledger(/^Neighbours see only what follows/);
  expect(renewed?.releases).toBeGreaterThan(2);
  expect(renewed?.epsilonSpent).toBeGreaterThan(1.1);
  await page.close();
});

test("names a cluster, and the name follows the cluster", async () => {
  const { page } = await machine.open();
  await shows(page, "north");
  await page.getByRole("button", { name: "Name cluster 1" }).click();
  await page.getByRole("textbox", { name: "Name of cluster 1" }).fill(`calm ${hostile}`.slice(0, 60));
  await page.keyboard.press("Enter");
  await until(async () => expect(await page.getByRole("alert").textContent()).toContain("Cluster 1 is called calm"));
  const button = page.getByRole("button", { name: "Name cluster 1, now calm" });
  await until(async () => expect(await button.textContent()).toContain("1 calm <img"));
  expect(await page.locator("img").count()).toBe(0);
  // A model has the names, and what is labelled with it as well.
  const [model, labelled] = [join(machine.path, "named.json"), join(machine.path, "named.csv")];
  await outcome("device", "export", "--state", machine.at("north"), "--out", model);
  const { clusters } = JSON.parse(readFileSync(model, "utf8"));
  expect(clusters.map(({ name, mean }: { name?: string; mean: null }) => [name?.slice(0, 4), mean])).toEqual([
    [undefined, null],
    ["calm", null],
    [undefined, null],
  ]);
  const data = machine.at("north.csv");
  expect(await outcome("predict", "--model", model, data, "--out", labelled)).toMatchObject({ code: 0 });
  const rows = readFileSync(labelled, "utf8").trim().split("\n");
  expect(rows[0]).toBe("x1,x2,cluster,cluster_name");
  for (const row of rows.slice(1)) expect(row.includes("calm")).toBe(row.split(",")[2] === "1");
  // Numbered anew, as after a reset: the name is where its cluster is.
  const centroids = machine.status("north").device.centroids ?? [];
  expect(clusterNames(machine.at("north"), centroids.toReversed(), [1, 1]).map((own) => own?.slice(0, 4))).toEqual([
    undefined,
    "calm",
    undefined,
  ]);
  expect(clusterNames(machine.at("north"), [centroids[1], centroids[0], centroids[2]], [1, 1])[0]).toContain("calm");
  await button.click();
  await page.getByRole("textbox", { name: "Name of cluster 1" }).fill("");
  await page.getByRole("button", { name: "Keep" }).click();
  await until(async () => expect(await button.count()).toBe(0));
  await page.close();
});

test("refuses names of clusters that are none, and names that are too long", async () => {
  const known = new Map([["north", machine.at("north")]]);
  const name = (cluster: unknown, own: unknown) =>
    performAction({ do: "name", device: "north", cluster, name: own }, known);
  for (const cluster of [-1, 3, 0.5, "1", null]) {
    await expect(name(cluster, "calm")).rejects.toThrow("cluster must be a number from 0 to 2");
  }
  for (const own of ["x".repeat(61), 7, undefined]) {
    await expect(name(1, own)).rejects.toThrow("name must be a text of at most 60 characters");
  }
  const centroids = machine.status("north").device.centroids ?? [];
  expect(clusterNames(machine.at("north"), centroids, [1, 1])).toEqual([null, null, null]);
});

test("accepts a device that knocks once its owner agrees to an open study, and unlinks it", async () => {
  await machine.run("east");
  const { page } = await machine.open();
  const { peer } = machine.folders.east.identity;
  await shows(page, "north");
  const short = peer.slice(-8);
  await page.getByRole("button", { name: `Accept ${short}` }).click();
  expect(await section(page, "Neighbours").textContent()).toContain("The study is open: neighbours can compute");
  await page.getByRole("button", { name: "No", exact: true }).click();
  expect((await outcome("device", "links", "--json", "--state", machine.at("north"))).stdout).not.toContain(
    `"name": "${short}"`,
  );
  await page.getByRole("button", { name: `Accept ${short}` }).click();
  await page.getByRole("button", { name: "Yes, link it" }).click();
  await until(async () => expect(await page.getByRole("alert").textContent()).toContain(`${short} is linked`));
  const card = section(page, "Neighbours").locator("li", { hasText: short });
  await until(async () => expect(await card.textContent()).toContain(`${short} connected, heard`));
  expect(await events("north")).toContain("accepted");
  await page.getByRole("button", { name: `Unlink ${short}` }).click();
  await page.getByRole("button", { name: "No", exact: true }).click();
  expect(await page.getByRole("button", { name: "Yes, unlink" }).count()).toBe(0);
  await page.getByRole("button", { name: `Unlink ${short}` }).click();
  await page.getByRole("button", { name: `Yes, unlink ${short}` }).click();
  await until(async () => expect(await page.getByRole("alert").textContent()).toBe(`${short} is unlinked.`));
  await until(async () => expect(await page.getByRole("button", { name: `Unlink ${short}` }).count()).toBe(0));
  expect(await events("north")).toContain("unlinked");
  await machine.halt("east");
  await page.close();
});

test("pauses a device, which stays so over a restart, and resumes it", async () => {
  const { page } = await machine.open();
  await shows(page, "north");
  await page.getByRole("button", { name: "Pause" }).click();
  await phase(page, "paused");
  const notice = "it makes no update and sends nothing new";
  await until(async () => expect(await section(page, "Notices").textContent()).toContain(notice));
  await machine.halt("north");
  await phase(page, "not running");
  await machine.run("north");
  await phase(page, "paused");
  await page.getByRole("button", { name: "Resume" }).click();
  await phase(page, "settled");
  const about = (await events("north")).filter((event) => ["paused", "resumed"].includes(event));
  expect(about).toEqual(["paused", "resumed"]);
  await page.close();
});

test("goes on by itself when the program that serves it has started again, and exports the model of device export", async () => {
  const { page } = await machine.open();
  machine.unserve();
  await page.getByText("not reached; trying again").waitFor();
  await machine.serve("north", "vault", "south", "west");
  await page.getByText("live", { exact: true }).waitFor();
  await shows(page, "south");
  await until(async () => {
    const downloading = page.waitForEvent("download");
    await page.getByRole("link", { name: "Export model" }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe("south.json");
    const out = join(machine.path, "model.json");
    expect(await outcome("device", "export", "--state", machine.at("south"), "--out", out)).toMatchObject({ code: 0 });
    expect(readFileSync(await download.path(), "utf8")).toBe(readFileSync(out, "utf8"));
  });
  await page.close();
});

test("resets a device after asking once more", async () => {
  const { page } = await machine.open();
  await shows(page, "south");
  const { opening } = machine.status("south").device;
  await page.getByRole("button", { name: "Reset" }).click();
  await page.getByRole("button", { name: "No", exact: true }).click();
  await page.getByRole("button", { name: "Reset" }).click();
  await page.getByRole("button", { name: "Yes, begin again from the rows" }).click();
  await until(() => expect(machine.status("south").device.opening).toBeGreaterThan(opening));
  await phase(page, "settled");
  expect(await events("south")).toContain("reset");
  await page.close();
});

test("shows words of other devices as text, whatever they hold", async () => {
  const { page } = await machine.open();
  const shown = '<img src=x onerror="window.wasRun=1">\\u{202e}gnorw';
  await shows(page, shown);
  expect(await page.locator("h2.name").textContent()).toContain(shown);
  expect(await section(page, "Neighbours").textContent()).toContain(shown);
  expect(await section(page, "Notices").textContent()).toContain("is gone, and ended without a word");
  expect(await page.locator("img").count()).toBe(0);
  expect(await page.evaluate("window.wasRun")).toBeUndefined();
  expect(await page.locator("body").textContent()).not.toContain("\u202e");
  await page.close();
});

const axe = readFileSync(createRequire(import.meta.resolve("@fedkm/web")).resolve("axe-core/axe.min.js"), "utf8");

test.each(["light", "dark"] as const)(
  "has no serious fault for people who cannot see or point, %s",
  async (colorScheme) => {
    const { page } = await machine.open({ colorScheme });
    const buttons = page.getByRole("navigation").locator("tbody").getByRole("button");
    for (const button of [buttons.first(), buttons.nth(1), buttons.last()]) {
      await button.click();
      const faults = await page.evaluate(`${axe}; axe.run().then(({ violations }) => violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`);
      expect(faults).toEqual([]);
    }
    await page.close();
  },
);

test("is no wider than a phone, whatever devices are called", async () => {
  const { page } = await machine.open({ width: 390 });
  const buttons = page.getByRole("navigation").locator("tbody").getByRole("button");
  for (const button of [buttons.first(), buttons.nth(1), buttons.last()]) {
    await button.click();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
  }
  await page.close();
});
