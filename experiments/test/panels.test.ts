// The figures have the paper's arrangement and are whole SVG files.

import { parseHTML } from "linkedom";
import { describe, expect, test } from "vitest";
import { xmlFault } from "../../cli/test/wellFormed.ts";
import { cellBatches } from "../src/cell.ts";
import { drawPicture } from "../src/picture/panels.ts";
import { aggregate } from "../src/results/aggregate.ts";
import { trials } from "../src/trial/trial.ts";
import { plannedStudy } from "./cells.ts";

const options = { runs: 2, seed: 1, starts: ["local", "auto"], quick: true } as const;
const plan = plannedStudy("figure1", options);
const table = aggregate(cellBatches(plan.cells).flatMap((own) => trials(own)));
const svg = drawPicture(table, plan.pictures[0].grid, {});
const { document } = parseHTML(svg);
const texts = Array.from(document.querySelectorAll("text"), ({ textContent }) => textContent);

describe("drawPicture", () => {
  test("gives a whole SVG file with no number missing", () => {
    expect(xmlFault(svg)).toBeUndefined();
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  });

  test("draws three by three panels with three lines each", () => {
    expect(document.querySelectorAll('[aria-label="line"] path').length).toBe(27);
    for (const label of ["α = 0", "α = 0.5", "α = 1", "GCD, iso", "GCD, aniso", "GCD, var"]) {
      expect(texts.filter((text) => text === label)).toHaveLength(1);
    }
  });

  test("names the methods once, and says what bars and start are", () => {
    for (const name of ["Algorithm 1", "Local k-means", "Distributed k-means"]) expect(texts).toContain(name);
    expect(texts.at(-1)).toMatch(/^Mean and standard error over the runs.* own k-means, best of 10\)\.$/);
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
    expect(drawPicture(shifted, plan.pictures[0].grid, {})).not.toBe(svg);
    expect(drawPicture([...table].reverse(), plan.pictures[0].grid, {})).toBe(svg);
  });
});

test("drawPicture tells Algorithm 1 and local k-means apart by their marks", () => {
  const marks = Array.from(document.querySelectorAll("svg > path"), (path) => path.getAttribute("d"));
  expect(new Set(marks).size).toBe(3);
});

test("drawPicture without titles has no title and no caption, and is as much lower", () => {
  const bare = drawPicture(table, plan.pictures[0].grid, { titles: false });
  const found = Array.from(parseHTML(bare).document.querySelectorAll("text"), ({ textContent }) => textContent);
  expect(found.some((text) => /^Figure 1|over the runs/.test(text ?? ""))).toBe(false);
  expect(found).toContain("points per device, m");
  const height = (of: string) => Number(/height="([\d.]+)"/.exec(of)?.[1]);
  expect(height(svg) - height(bare)).toBe(50);
});

test("drawPicture of medians has bands between the quartiles instead of bars", () => {
  const bands = drawPicture(table, plan.pictures[0].grid, { summary: "median" });
  expect(bands).toContain("Median and quartiles over the runs.");
  expect(parseHTML(bands).document.querySelectorAll('[aria-label="area"] path').length).toBe(27);
  expect(svg).not.toContain('aria-label="area"');
});

test("every study has a picture that is drawn from its rows", () => {
  const found = plannedStudy("follow-up", { ...options, runs: 1 });
  const small = found.cells
    .filter(({ dataset }) => dataset !== "digits")
    .map((cell) => ({ ...cell, rounds: 3, pointsPerDevice: cell.pointsPerDevice === null ? null : 20 }));
  const rows = aggregate(cellBatches(small).flatMap((own) => trials(own)));
  const all = ["effect-of-alpha", "sample-size", "connectivity", "regimes", "comparison", "communities", "benchmark"];
  expect(new Set(found.pictures.map(({ name }) => name))).toEqual(
    new Set(all.flatMap((name) => [`${name}-local`, `${name}-auto`])),
  );
  for (const { name, grid } of found.pictures) {
    const drawn = drawPicture(rows, { ...grid, rows: grid.rows.filter(({ label }) => label !== "digits") }, {});
    expect(xmlFault(drawn), name).toBeUndefined();
    expect(drawn, name).not.toMatch(/NaN|undefined|Infinity/);
    expect(drawn, name).toMatch(/FedKM-NC|>NC/);
  }
});
