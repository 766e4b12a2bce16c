// The sentence of fedkm compare on up to twenty sets: who wins is recomputed from what --json prints, not by the code that says it.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { methods, toRows } from "@fedkm/core";
import { afterAll, expect, test } from "vitest";
import { setsOfRun } from "../../experiments/test/comparedSets.ts";
import { runCommandLine } from "../src/program.ts";
import { fakeConsole } from "./fakeConsole.ts";

const folder = mkdtempSync(join(tmpdir(), "fedkm-winners-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Row {
  readonly method: string;
  readonly best: { readonly costRatio: number; readonly bytes: number };
  readonly untuned: { readonly costRatio: number; readonly bytes: number } | null;
}

test.each(setsOfRun())(
  "fedkm compare names the winners on %s",
  async (name, draw, k, split, isRing) => {
    const { points, labels } = draw(3);
    const file = join(folder, "rows.csv");
    const columns = Array.from({ length: points.cols }, (_, c) => `x${c}`);
    const lines = toRows(points).map((row, r) => [...row, `c${labels[r]}`].join());
    writeFileSync(file, `${[[...columns, "class"].join(), ...lines].join("\n")}\n`);
    const console = fakeConsole({});
    const graph = isRing ? "ring" : "er:0.7";
    const problem = ["--classes", "class", "--k", String(k), "--split", split, "--devices", "6", "--graph", graph];
    const effort = ["--method", Object.keys(methods).join(), "--messages", "300", "--runs", "2"];
    const asked = ["compare", file, ...problem, ...effort, "--json", "--out", join(folder, "picture.svg")];
    expect(await runCommandLine(asked, console), console.said().stderr).toBe(0);
    const { standings, sentence } = JSON.parse(console.said().stdout) as { standings: Row[]; sentence: string };
    const rivals = standings.filter(({ method }) => method !== "pooled");
    const least = Math.min(...rivals.map(({ best }) => best.costRatio));
    const upTo = (share: number) => rivals.filter(({ best }) => best.costRatio <= least + share * Math.max(1, least));
    const fewest = (some: readonly Row[]) => Math.min(...some.map(({ best }) => best.bytes));
    const named =
      /^By quality (.+?) (?:wins|tie within 0\.1 %): ([\d.]+) times the cost of pooled\. By bytes (\w+) sends least\. By both it is (\w+):/.exec(
        sentence,
      );
    const [, quality = "", cost, bytes, both] = named ?? [];
    const of = (method: string) => rivals.find((own) => own.method === method) as Row;
    expect(quality.split(/, | and /).sort(), sentence).toEqual(
      upTo(0.001)
        .map(({ method }) => method)
        .sort(),
    );
    expect(cost).toBe(least.toFixed(4));
    expect(of(bytes).best.bytes).toBe(fewest(rivals.filter(({ best }) => best.bytes > 0)));
    // Settings that are nearly as good as the best ones may send far less.
    const near = rivals.flatMap(({ method, best, untuned }) =>
      [best, ...(untuned === null ? [] : [untuned])]
        .filter(({ costRatio }) => costRatio <= least + 0.01 * Math.max(1, least))
        .map((own) => ({ method, bytes: own.bytes })),
    );
    expect(near.sort((a, b) => a.bytes - b.bytes)[0].method).toBe(both);
    // Nobody is shown worse than untuned, and nobody is better than the reference.
    for (const { method, best, untuned } of standings) {
      expect(best.costRatio, method).toBeGreaterThanOrEqual(1 - 1e-9);
      if (untuned !== null) expect(best.costRatio, method).toBeLessThanOrEqual(untuned.costRatio + 1e-9);
    }
    // The start of the comparison hides what these methods can do here.
    if (name !== "grid of 25") return;
    for (const method of ["consensus", "distributed", "gradient", "fkm"]) {
      expect(of(method).best.costRatio, method).toBeLessThan(1.05);
    }
  },
  120_000,
);
