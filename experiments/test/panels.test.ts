// The figures have the paper's arrangement and are whole SVG files.

import { parseHTML } from "linkedom";
import { describe, expect, test } from "vitest";
import { xmlFault } from "../../cli/test/wellFormed.ts";
import { aggregate } from "../src/aggregate.ts";
import { batches } from "../src/cell.ts";
import { drawPanelGrid } from "../src/picture/panels.ts";
import { studies } from "../src/studies/index.ts";
import { trials } from "../src/trial.ts";

const options = { runs: 2, seed: 1, starts: ["authors", "dependable"], quick: true } as const;
const plan = studies.figure1(options);
const table = aggregate(batches(plan.cells).flatMap((own) => trials(own)));
const svg = drawPanelGrid(table, plan.pictures[0].grid);
const { document } = parseHTML(svg);
const texts = Array.from(document.querySelectorAll("text"), ({ textContent }) => textContent);

describe("drawPanelGrid", () => {
  test("gives a whole SVG file with no number missing", () => {
    expect(xmlFault(svg)).toBeUndefined();
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  });

  test("draws three by three panels with three lines each", () => {
    expect(document.querySelectorAll('[aria-label="line"] path').length).toBe(27);
    for (const label of ["alpha = 0", "alpha = 0.5", "alpha = 1", "GCD, iso", "GCD, aniso", "GCD, var"]) {
      expect(texts.filter((text) => text === label)).toHaveLength(1);
    }
  });

  test("names the methods once, and says what bars and start are", () => {
    for (const name of ["Algorithm 1", "Local k-means", "Distributed k-means"]) expect(texts).toContain(name);
    expect(texts.at(-1)).toMatch(/^Mean and standard error over the runs.* own k-means, best of 10\.$/);
  });

  test("tells methods apart by dashes and marks, not by colour alone", () => {
    const dashes = Array.from(document.querySelectorAll("svg > line"), (line) => line.getAttribute("stroke-dasharray"));
    expect(dashes).toHaveLength(3);
    expect(new Set(dashes).size).toBe(3);
  });

  test("writes no text below 7 points when 180 mm wide", () => {
    const sizes = Array.from(svg.matchAll(/font-size[:=]\s*"?([\d.]+)/g), ([, size]) => Number(size));
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(7 / 0.75);
  });

  test("is read from the table by column names: another table, another picture", () => {
    const shifted = table.map((row) => ({ ...row, gcd_mean: 10 * Number(row.gcd_mean) }));
    expect(drawPanelGrid(shifted, plan.pictures[0].grid)).not.toBe(svg);
    expect(drawPanelGrid([...table].reverse(), plan.pictures[0].grid)).toBe(svg);
  });
});

test("every study draws its pictures from its rows", () => {
  const found = studies.extended({ ...options, runs: 1 });
  const small = found.cells
    .filter(({ dataset }) => dataset !== "digits")
    .map((cell) => ({ ...cell, rounds: 3, pointsPerDevice: cell.pointsPerDevice === null ? null : 20 }));
  const rows = aggregate(batches(small).flatMap((own) => trials(own)));
  expect(found.pictures.map(({ name }) => name)).toEqual(
    ["effect-of-alpha", "connectivity", "communities", "small-real"].flatMap((name) => [
      `${name}-authors`,
      `${name}-dependable`,
    ]),
  );
  for (const { name, grid } of found.pictures) {
    const drawn = drawPanelGrid(rows, { ...grid, rows: grid.rows.filter(({ label }) => label !== "digits") });
    expect(drawn, name).not.toMatch(/NaN|undefined|Infinity/);
    expect(drawn, name).toContain("Algorithm 1");
  }
});
