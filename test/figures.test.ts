// The figures of the pages: a list says which command prints each. Every table of figures is listed, every listed figure
// stands in its page, every command exists, and those that take seconds are run and print what the page says.

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const text = (file: string) => readFileSync(join(root, file), "utf8");

interface Listed {
  readonly page: string;
  readonly command: string;
  /** The first two heads of a table of figures, all of which the command prints. */
  readonly table?: string;
  /** Or figures in sentences. */
  readonly figures?: readonly string[];
  /** Whether this test runs the command; the others take minutes, or other programs. */
  readonly run?: true;
}

const listed: readonly Listed[] = JSON.parse(text("test/figures.json"));
const pages = ["README.md", ...readdirSync(join(root, "docs")).map((file) => `docs/${file}`)].filter((file) =>
  file.endsWith(".md"),
);

interface Table {
  readonly name: string;
  readonly rows: readonly (readonly string[])[];
}

function tablesOf(page: string): Table[] {
  return Array.from(text(page).matchAll(/^\|.*\n\|[ |:-]+\n((?:\|.*\n?)*)/gm), ([all, body]) => {
    const cellsOf = (line: string) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim());
    const [first, second] = cellsOf(all.slice(0, all.indexOf("\n")));
    return { name: `${first} | ${second}`, rows: body.trimEnd().split("\n").map(cellsOf) };
  });
}

/** Behind the first column a quarter of the cells begin with a digit. */
function isOfFigures({ rows }: Table): boolean {
  const cells = rows.flatMap((row) => row.slice(1));
  return 4 * cells.filter((cell) => /^\d/.test(cell)).length >= cells.length;
}

/** Defaults are no measurements. */
const settings = ["docs/api.md: option | default"];

test.each(pages)("every table of figures in %s is listed, and every listed figure stands there", (page) => {
  const own = listed.filter((entry) => entry.page === page);
  const known = own.flatMap(({ table }) => table ?? []);
  const tables = tablesOf(page).filter(isOfFigures);
  const measured = tables.map(({ name }) => name).filter((name) => !settings.includes(`${page}: ${name}`));
  expect(measured.sort()).toEqual(known.sort());
  const words = text(page).replaceAll(/\s+/g, " ");
  for (const figure of own.flatMap(({ figures = [] }) => figures)) expect(words).toContain(figure);
});

test("every command of the list exists, with its section, its parts and its tests", () => {
  const lab = text("lab/src/lab.ts");
  const studies = readdirSync(join(root, "experiments/studies"));
  for (const { command } of listed) {
    const [, section, rest] = /^npm run lab -- (\w+) ?(.*)$/.exec(command) ?? [];
    const [, file] = /^npx vitest run (\S+)$/.exec(command) ?? [];
    const [, study] = /^fedkm reproduce ([\w-]+)/.exec(command) ?? [];
    if (section !== undefined) {
      expect(lab, command).toContain(`import("./${section}/${section}.ts")`);
      const parts = rest
        .replaceAll(/--only |--seed \d+/g, "")
        .split(/[ ,]/)
        .filter(Boolean);
      const source = text(`lab/src/${section}/${section}.ts`);
      for (const part of parts) expect(source, command).toMatch(new RegExp(`^ +(?:async )?"?${part}"?[:,(]`, "m"));
    } else if (file !== undefined) expect(text(file).length, command).toBeGreaterThan(0);
    else expect(studies, command).toContain(`${study}.yaml`);
  }
});

const commands = [...new Set(listed.filter(({ run }) => run).map(({ command }) => command))];

test.each(commands)(
  "%s prints what the pages say",
  (command) => {
    const args = command.replace("npm run lab -- ", "").split(" ");
    const { status, stdout } = spawnSync(process.execPath, [join(root, "lab/dist/lab.js"), ...args], {
      encoding: "utf8",
    });
    expect(status).toBe(0);
    const lines = stdout.split("\n").map((line) => line.trim().split(/ {2,}/).join(" | "));
    for (const { page, table, figures = [] } of listed.filter((entry) => entry.command === command)) {
      for (const figure of figures) expect(stdout, page).toContain(figure);
      const { rows = [] } = tablesOf(page).find(({ name }) => name === table) ?? {};
      const printed = rows.map((row) =>
        row
          .filter((cell) => cell !== "")
          .join(" | ")
          .replaceAll("`", ""),
      );
      for (const row of printed) expect(lines, page).toContain(row);
    }
  },
  300_000,
);
