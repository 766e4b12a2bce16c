// Reports of five tables, and of an audit, as a browser shows and prints them, and whether anything sticks out of a page.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { fedkm, launchChromium } from "../pages.ts";
import { penguins, stations, survey, type TableSet, wholesale } from "./tables.ts";

const examples = fileURLToPath(new URL("../../../examples", import.meta.url));

const looks = [
  { look: "light", width: 1440, colorScheme: "light" },
  { look: "dark", width: 1440, colorScheme: "dark" },
  { look: "phone", width: 390, colorScheme: "light" },
  { look: "phone-dark", width: 390, colorScheme: "dark" },
] as const;

/** Writes them into a folder, also as PDF; a browser is needed. */
export async function drawReports(folder: string): Promise<void> {
  const browser = await launchChromium();
  const draw = async (name: string, asked: readonly string[]) => {
    fedkm("fit", ...asked, "--out", join(folder, name));
    await drawPage(browser, folder, name, join(folder, name, "report.html"));
  };
  try {
    const plants = ["north.csv", "south.csv"].map((name) => join(examples, name));
    await draw("plants", [...plants, "--k", "3", "--exclude", "plant"]);
    for (const make of [penguins, wholesale, stations, survey]) {
      const set = make();
      await draw(set.name, [...writeFiles(folder, set), ...set.asked]);
    }
    const audit = join(folder, "audit.html");
    fedkm("audit", "--runs", "5", "--html", audit);
    await drawPage(browser, folder, "audit", audit);
  } finally {
    await browser.close();
  }
}

function writeFiles(folder: string, { name, files }: TableSet): string[] {
  mkdirSync(join(folder, `${name}-files`), { recursive: true });
  return Object.entries(files).map(([own, text]) => {
    const file = join(folder, `${name}-files`, own);
    writeFileSync(file, text);
    return file;
  });
}

async function drawPage(browser: Browser, folder: string, name: string, file: string): Promise<void> {
  for (const { look, width, colorScheme } of looks) {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    await page.goto(pathToFileURL(file).href);
    const beyond = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
    if (beyond > 0) throw new Error(`the report of ${name} must fit ${width} pixels, got ${beyond} more`);
    await page.screenshot({ path: join(folder, `${name}-${look}.png`), fullPage: true });
    if (look === "light") await page.pdf({ path: join(folder, `${name}.pdf`), format: "A4" });
    await page.close();
  }
  console.log(`${name}: ${file}`);
}
