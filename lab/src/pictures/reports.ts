// Reports of five tables, and of an audit, as a browser shows and prints them, and whether anything sticks out of a page.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { normalStream, randomStream } from "@fedkm/core";
import type { Browser } from "playwright-core";
import { fedkm, launchChromium } from "../fedkm.ts";

// Tables as analysts have them, made from a seed: with categories, with heavy tails, of many devices, of many columns.

/** The files of a data set by name, and what fedkm fit is asked about them. */
interface TableSet {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly asked: readonly string[];
}

type Row = readonly (string | number)[];

function csv(columns: readonly string[], rows: readonly Row[]): string {
  return `${[columns, ...rows].map((row) => row.join(",")).join("\n")}\n`;
}

function streams(seed: number) {
  const random = randomStream(seed, "tables");
  const normal = normalStream(randomStream(seed, "tables, normal"));
  const one = <T>(of: readonly T[], weights: readonly number[]): T => {
    const at = random() * weights.reduce((sum, own) => sum + own, 0);
    const upTo = weights.map((_, i) => weights.slice(0, i + 1).reduce((sum, own) => sum + own, 0));
    return of[upTo.findIndex((sum) => at < sum)];
  };
  return { random, normal, one };
}

/** Three species on three islands: lengths, a weight, and two columns of words. */
function penguins(seed = 1): TableSet {
  const { normal, one, random } = streams(seed);
  const species = [
    { bill: [38.8, 18.3], flipper: 190, mass: 3700, islands: [47, 56, 44] },
    { bill: [48.8, 18.4], flipper: 196, mass: 3730, islands: [0, 68, 0] },
    { bill: [47.5, 15.0], flipper: 217, mass: 5080, islands: [119, 0, 0] },
  ];
  const rows = Array.from({ length: 340 }, (): Row => {
    const own = one(species, [146, 68, 119]);
    const male = random() < 0.5;
    const more = male ? 1 : -1;
    return [
      one(["Biscoe", "Dream", "Torgersen"], own.islands),
      (own.bill[0] + 1.6 * more + 2.2 * normal()).toFixed(1),
      (own.bill[1] + 0.7 * more + 0.8 * normal()).toFixed(1),
      Math.round(own.flipper + 3 * more + 5 * normal()),
      25 * Math.round((own.mass + 330 * more + 270 * normal()) / 25),
      male ? "male" : "female",
      2007 + Math.floor(3 * random()),
    ];
  });
  const columns = ["island", "bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g", "sex", "year"];
  const asked = ["--k", "3", "--scale", "standard", "--categories", "auto", "--exclude", "year"];
  return { name: "penguins", files: { "penguins.csv": csv(columns, rows) }, asked };
}

/** What shops and restaurants of three regions spend a year: a few spend a hundred times as much as most. */
function wholesale(seed = 2): TableSet {
  const { normal, random } = streams(seed);
  const columns = ["fresh", "milk", "grocery", "frozen", "detergents_paper", "delicatessen"];
  const kinds = [
    [9.0, 7.6, 7.9, 7.4, 5.5, 6.5],
    [7.8, 8.9, 9.5, 6.5, 8.2, 6.7],
  ];
  const region = (rows: number, share: number) =>
    csv(
      columns,
      Array.from({ length: rows }, (): Row => {
        const kind = kinds[random() < share ? 0 : 1];
        const size = 0.5 * normal();
        return kind.map((log) => Math.round(Math.exp(log + size + 0.9 * normal())));
      }),
    );
  const files = { "lisbon.csv": region(77, 0.75), "oporto.csv": region(47, 0.6), "other.csv": region(316, 0.68) };
  return { name: "wholesale", files, asked: ["--k", "3", "--scale", "standard"] };
}

/** Fifty stations of a hundred or so hours each; a few of them stand elsewhere than the others. */
function stations(seed = 3): TableSet {
  const { normal, random } = streams(seed);
  const weather = [
    [28, 35, 1018, 2],
    [12, 80, 1004, 7],
    [-2, 70, 1022, 3],
    [16, 55, 1012, 12],
  ];
  const columns = ["temperature_c", "humidity_pct", "pressure_hpa", "wind_ms"];
  const rows: Row[] = [];
  for (let s = 0; s < 50; s++) {
    const name = `station-${String(s + 1).padStart(2, "0")}`;
    const shift = s % 17 === 4 ? 9 : 0.6 * normal();
    for (let r = 0; r < 60 + Math.floor(80 * random()); r++) {
      const own = weather[Math.min(3, Math.floor(random() ** (1 + (s % 5) / 4) * 4))];
      const [t, h, p, w] = own;
      const figures = [t + shift + 2 * normal(), h + 6 * normal(), p + 4 * normal(), Math.abs(w + 1.2 * normal())];
      rows.push([name, ...figures.map((figure) => figure.toFixed(1))]);
    }
  }
  const asked = ["--k", "4", "--scale", "standard", "--device-column", "station"];
  return { name: "stations", files: { "stations.csv": csv(["station", ...columns], rows) }, asked };
}

/** A survey of forty questions, of which a dozen tell five kinds of people apart, with names as long as questions. */
function survey(seed = 4): TableSet {
  const { normal, random } = streams(seed);
  const topics = ["price", "quality", "service_in_the_shop", "delivery_time", "returns", "website", "advice", "brand"];
  const columns = Array.from(
    { length: 40 },
    (_, c) =>
      `q${c + 1}_${topics[c % 8]}_${["now", "last_year", "expected_next_year", "against_others", "overall"][Math.floor(c / 8)]}`,
  );
  const kinds = Array.from({ length: 5 }, () => columns.map((_, c) => (c % 3 === 0 ? 1.3 * normal() : 0)));
  const deviceRows = (rows: number) =>
    csv(
      columns,
      Array.from({ length: rows }, (): Row => {
        const kind = kinds[Math.floor(5 * random() ** 1.4)];
        return kind.map((mean) => (4 + mean + 0.8 * normal()).toFixed(2));
      }),
    );
  const files = {
    "berlin.csv": deviceRows(400),
    "hamburg.csv": deviceRows(300),
    "munich.csv": deviceRows(260),
    "cologne.csv": deviceRows(90),
  };
  return { name: "survey", files, asked: ["--k", "5", "--scale", "standard"] };
}

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
    fedkm("audit", "--runs", "5", "--out", audit);
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
