// A study called from a program: run, stopped, resumed from its journal, and its results as files by name.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { reproduceStudy, type StudyProgress, type StudyRequest } from "../src/reproduce.ts";
import { resultsOf } from "../src/results/results.ts";
import { bundledSweep } from "../src/studies/file.ts";
import { parseCsv } from "../src/table.ts";
import { OtherRunError } from "../src/trial/journal.ts";

const folder = mkdtempSync(join(tmpdir(), "fedkm-study-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const request: StudyRequest = {
  what: "communities",
  sweep: bundledSweep("communities"),
  given: {},
  isOpen: true,
  runs: 2,
  seed: 3,
  starts: ["local"],
  quick: true,
  folder: join(folder, "whole"),
  resume: false,
  workers: 1,
  node: "v0",
};

test("reproduceStudy gives the same rows whether it was stopped and resumed or not, and says how far it is", async () => {
  const heard: StudyProgress[] = [];
  const whole = await reproduceStudy({ ...request, onProgress: (progress) => heard.push(progress) });
  expect(heard.map(({ finished, share }) => [finished, share])).toEqual([
    [0, 0],
    [1, 0.5],
    [2, 1],
  ]);
  const stop = new AbortController();
  const stopped = { ...request, folder: join(folder, "stopped") };
  const onProgress = ({ finished }: StudyProgress) => finished === 1 && stop.abort(new Error("enough"));
  await expect(reproduceStudy({ ...stopped, signal: stop.signal, onProgress })).rejects.toThrow("enough");
  const resumed = await reproduceStudy({ ...stopped, resume: true });
  expect(resumed.csv).toBe(whole.csv);
  expect(resumed.manifest).toEqual(whole.manifest);
  // What was added runs, and what is there stays; other rows of one's own are another run.
  const [more, last] = [[] as StudyProgress[], { ...stopped, resume: true, runs: 3 }];
  await reproduceStudy({ ...last, onProgress: (progress) => more.push(progress) });
  expect(more.map(({ finished }) => finished)).toEqual([2, 3]);
  const given = { own: { datasets: [{ data: new Float64Array(2), rows: 1, cols: 2 }], labels: [new Uint32Array(1)] } };
  await expect(reproduceStudy({ ...stopped, given, resume: true })).rejects.toThrow(OtherRunError);
}, 60_000);

test("resultsOf has every table, picture and the report as files by name, and writes nothing", async () => {
  const finished = await reproduceStudy({ ...request, folder: join(folder, "results") });
  const shows = { dataset: "communities", start: "local", shows: "run 1", command: "look" };
  const { files, claims, watched } = resultsOf(finished, { titles: false }, () => [shows]);
  expect([...files.keys()]).toEqual([
    ...["runs.csv", "aggregated.csv", "manifest.json"],
    ...["svg", "csv", "tex", "png", "pdf"].map((ending) => `communities-local.${ending}`),
    "report.html",
  ]);
  expect({ claims, watched }).toEqual({ claims: [], watched: [shows] });
  expect(parseCsv(String(files.get("runs.csv"))).length).toBe(finished.manifest.cells);
  expect(String(files.get("report.html"))).toContain("look");
  expect(existsSync(join(folder, "results", "runs.csv"))).toBe(false);
  expect(
    readFileSync(join(folder, "results", "finished.jsonl"), "utf8")
      .trim()
      .split("\n").length,
  ).toBe(3);
}, 60_000);
