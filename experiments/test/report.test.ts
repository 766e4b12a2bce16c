// The report has everything in it and needs nothing else.

import { parseHTML } from "linkedom";
import { expect, test } from "vitest";
import { aggregate } from "../src/results/aggregate.ts";
import { renderStudyReport } from "../src/results/report.ts";
import { trials } from "../src/trial/trial.ts";
import { testCell } from "./cells.ts";

const rows = aggregate(trials([testCell({ pointsPerDevice: 10, rounds: 1 })]));

const claim = {
  figure: 1,
  section: "IV-B",
  name: "n",
  claim: "GCD < 1 & falls",
  measured: "GCD at alpha 1",
  dataset: "iso",
  runs_held: 9,
  runs: 10,
  means_held: 1,
  means: 2,
};
const parts = {
  title: "fedkm reproduce test",
  effort: "12 cells in 3.4 s.",
  certified: "12 runs of Algorithm 1: none raised the objective",
  claims: [
    { ...claim, start: "local", verdict: "mostly" },
    { ...claim, start: "auto", runs_held: 10, verdict: "holds" },
  ],
  agreement: [
    {
      start: "local",
      measure: "gcd",
      ratio: 1.1,
      allowed_factor: 2,
      dataset: "iso",
      method: "fedkm",
      alpha: 1,
      edge_probability: 0.7,
      points_per_device: 50,
      median: 1e-4,
      their_median: 9e-5,
      lower_quartile: 9e-5,
      upper_quartile: 1.2e-4,
      lowest_run: 8e-5,
      highest_run: 2e-4,
      wrong_percent: 0,
      their_wrong_percent: 0,
      judged_by: "factor",
      agrees: 1,
    },
    {
      start: "local",
      measure: "gcd",
      ratio: 10,
      allowed_factor: 3,
      dataset: "var",
      method: "local",
      alpha: null,
      edge_probability: 0.7,
      points_per_device: 50,
      median: 1,
      their_median: 0.1,
      lower_quartile: 0.5,
      upper_quartile: 1.2,
      lowest_run: 0.4,
      highest_run: 1.3,
      wrong_percent: 40,
      their_wrong_percent: 10,
      judged_by: "factor",
      agrees: 0,
    },
  ],
  aggregated: rows.map((row) => ({ ...row, gcd_mean: 5.298e-6 })),
  personalisation: undefined,
  watched: [{ dataset: "var", start: "local", shows: "run 1", command: "fedkm playground 'data=var&alpha=0'" }],
  pictures: ['<svg xmlns="http://www.w3.org/2000/svg"></svg>'],
  manifest: { seed: 7 },
};

test("renderStudyReport puts the starts side by side, with counts and verdicts", () => {
  const { document } = parseHTML(renderStudyReport(parts));
  const [heading, row] = Array.from(document.querySelectorAll("table")[0].querySelectorAll("tr"), (line) =>
    Array.from(line.children, ({ textContent }) => textContent),
  );
  expect(heading).toEqual([
    ...["the paper says", "measured as", "data", "section", "figure"],
    ...["local start: means, runs", "auto start: means, runs"],
  ]);
  expect(row).toEqual([
    ...["GCD < 1 & falls", "GCD at alpha 1", "iso", "IV-B", "1"],
    ...["mostly: 1 of 2, 9 of 10", "holds: 1 of 2, 10 of 10"],
  ]);
});

test("renderStudyReport lists the cells that do not agree", () => {
  const html = renderStudyReport(parts);
  expect(html).toContain("<td>1 of 1</td>");
  expect(html).toContain("<td>0 of 1</td>");
  expect(html).toContain('<th scope="row" class="name">local var local</th>');
  expect(html).not.toContain("iso fedkm");
});

test("renderStudyReport without claims shows the numbers, rounded to what is known", () => {
  const html = renderStudyReport({ ...parts, claims: [], agreement: [] });
  expect(html).toContain("<td>5.3e-6</td>");
  expect(html).not.toContain("NMI");
});

test("renderStudyReport has the commands that show runs in the playground, to be pasted as they are", () => {
  const { document } = parseHTML(renderStudyReport(parts));
  const cells = [...document.querySelectorAll("td")].map(({ textContent }) => textContent);
  expect(cells).toContain("fedkm playground 'data=var&alpha=0'");
  expect(renderStudyReport({ ...parts, watched: [] })).not.toContain("Watch a run");
});

test("renderStudyReport is one file: no link to anything outside", () => {
  const html = renderStudyReport(parts).replaceAll('xmlns="http://www.w3.org/2000/svg"', "");
  expect(html).not.toMatch(/https?:|src=|href=|@import/);
  expect(html).toContain("&#34;seed&#34;: 7");
});
