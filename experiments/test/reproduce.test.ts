// A study called from a program: run, stopped, resumed from its journal, and its results as files by name.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { reproduceStudy, type StudyProgress, type StudyRequest } from "../src/reproduce.ts";
import { resultsOf } from "../src/results/results.ts";
import { parseCsv } from "../src/table.ts";
import { OtherRunError } from "../src/trial/journal.ts";

const folder = mkdtempSync(join(tmpdir(), "fedkm-study-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const request: StudyRequest = {
  what: "communities",
  runs: 2,
  seed: 3,
  starts: ["local"],
  quick: true,
  devices: 10,
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
  await expect(reproduceStudy({ ...stopped, resume: true, seed: 4 })).rejects.toThrow(OtherRunError);
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
