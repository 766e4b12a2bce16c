// The documentation as a site: every link leads somewhere, axe finds nothing, the search finds what is looked for, the first
// load is small, and all of it works in a subfolder.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browserTest as test } from "../../../core/test/hosts/chromium.ts";
import { runs } from "../../../test/runs.ts";
import { site as folder } from "../../src/served.ts";
import { openSite, type Site } from "./site.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.close());

const read = (path: string) => readFileSync(new URL(path, folder), "utf8");
const pages = readdirSync(new URL("docs/", folder), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".html"))
  .map((name) => `docs/${name}`);
const startPages = pages.filter((page) => page.startsWith("docs/start/") || page === "docs/index.html");

describe("pages", () => {
  it("are all that docs has, every package and every command", () => {
    const written = ["docs", "docs/start"].flatMap((name) =>
      readdirSync(fileURLToPath(new URL(`../../../${name}`, import.meta.url))).filter((file) => file.endsWith(".md")),
    );
    const packages = readdirSync(fileURLToPath(new URL("../../../test/api", import.meta.url))).filter(
      (file) => file !== "cli.txt",
    );
    expect(pages).toHaveLength(written.length + packages.length + 1);
    for (const file of packages) {
      const names = readFileSync(new URL(`../../../test/api/${file}`, import.meta.url), "utf8")
        .trimEnd()
        .split("\n");
      const sections = read(`docs/reference/${file.replace(".txt", ".html")}`)
        .split("<h2 id=")
        .slice(1);
      expect(sections).toHaveLength(names.length);
      // Each begins with the comment of the name, which is that of the code.
      const silent = sections.filter((section) => /<\/h2>\s*<p>From <code>/.test(section) || !section.includes("<pre"));
      expect(silent.map((section) => section.slice(0, 60))).toEqual([]);
    }
    expect(read("docs/reference/core.html")).toContain(
      "k-means of the points of one device: the best of several starts",
    );
    expect(read("docs/reference/core.html")).toContain("kmeans(matrix([[0], [2], [9]]), { k: 2 }).inertia // 2");
    for (const command of ["fit", "playground", "docs", "device run"]) {
      expect(read("docs/reference/commands.html")).toContain(`>fedkm ${command}</h2>`);
    }
  });

  it.each(pages)("%s leads only to files and headings that exist, and to nothing outside of the site", (page) => {
    const html = read(page);
    for (const [, name, target] of html.matchAll(/ (href|src)="([^"]+)"/g)) {
      if (/^(https?:|mailto:)/.test(target) && name === "href") continue;
      if (target === "data:,") continue;
      const [path, anchor] = target.split("#");
      const file = new URL(path === "" ? page : path, new URL(page, folder));
      const found = path === "" ? new URL(page, folder) : file;
      expect(statSync(found, { throwIfNoEntry: false })?.isFile(), `${page}: ${target}`).toBe(true);
      expect(found.href.startsWith(folder.href), target).toBe(true);
      if (anchor && found.pathname.includes("/docs/")) {
        expect(readFileSync(found, "utf8"), `${page}: ${target}`).toContain(`id="${anchor}"`);
      }
    }
  });

  it.each(startPages)("%s loads at most 150 KB, gzipped, before anybody searches", (page) => {
    const html = read(page);
    const loaded = Array.from(
      html.matchAll(/(?:src|<link rel="stylesheet" href)="([^"]+)"/g),
      ([, path]) => new URL(path, new URL(page, folder)),
    );
    const fonts = readdirSync(new URL("assets/", folder)).filter((name) => name.startsWith("bricolage"));
    const files = [new URL(page, folder), ...loaded, ...fonts.map((name) => new URL(`assets/${name}`, folder))];
    const size = files.reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0);
    expect(size).toBeLessThan(150_000);
  });
});

/** What somebody looks for, and a page that answers it. */
const terms: readonly (readonly [string, string])[] = [
  ["alpha", "glossary"],
  ["guarded rows", "privacy"],
  ["epsilon", "privacy"],
  ["truncated", "api"],
  ["delimiter", "files"],
  ["decimal comma", "files"],
  ["parquet", "files"],
  ["updateDevice", "reference/core"],
  ["fitRounds", "reference/core"],
  ["fedkm fit", "reference/commands"],
  ["fedkm device run", "reference/commands"],
  ["PostgreSQL", "data"],
  ["scikit-learn", "python"],
  ["dashboard token", "playground"],
  ["backup", "operations"],
  ["model.json", "model"],
  ["GTVMin", "paper"],
  ["liar", "threats"],
  ["federated start", "glossary"],
  ["marked", "decisions"],
];

test("the search finds 20 of 20 terms, and goes there by keyboard", async () => {
  const { page, errors } = await site.openFile("docs/start/analyst.html");
  await page.keyboard.press("/");
  const found: string[] = [];
  for (const [term, answer] of terms) {
    await page.getByRole("searchbox").fill(term);
    await expect.poll(() => page.locator("#found li").count()).toBeGreaterThan(0);
    const links = await page.locator("#found a").evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? ""));
    if (links.some((link) => link.includes(`/${answer}.html`))) found.push(term);
  }
  expect(terms.map(([term]) => term).filter((term) => !found.includes(term))).toEqual([]);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.url()).toContain("docs/decisions.html#");
  expect(errors).toEqual([]);
  await page.close();
});

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

test("axe finds nothing on the pages, light or dark, wide or on a phone, and nothing scrolls sideways", async () => {
  // All come from one template: npm test looks at those for beginners and every fourth, npm run test:long at all.
  const every = runs({ short: 4, long: 1 });
  for (const [i, path] of pages.entries()) {
    if (i % every !== 0 && !startPages.includes(path)) continue;
    const options = { colorScheme: i % 2 === 0 ? "light" : "dark", width: i % 3 === 0 ? 390 : 1280 } as const;
    const { page, errors } = await site.openFile(path, options);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path).toBe(true);
    await page.evaluate(axe);
    const found = (await page.evaluate("axe.run()")) as { violations: { id: string; nodes: { html: string }[] }[] };
    expect(found.violations.map(({ id, nodes }) => `${path} ${id}: ${nodes[0].html}`)).toEqual([]);
    expect(errors).toEqual([]);
    await page.close();
  }
});
