// Any number of workers gives the same rows; a stop leaves what was finished. Workers run the built files: npm test builds first.

import { expect, test } from "vitest";
import { cellBatches, type StudyCell } from "../src/cell.ts";
import { runBatches } from "../src/trial/pool.ts";
import { type RunRow, trials } from "../src/trial/trial.ts";
import { testCell } from "./cells.ts";

const cells: StudyCell[] = [1, 2, 3, 4, 5, 6].map((seed) => testCell({ pointsPerDevice: 20 * seed, rounds: 5, seed }));
const parts = new Map(cellBatches(cells).entries());

async function rowsOf(workers: number): Promise<Map<number, readonly RunRow[]>> {
  const rows = new Map<number, readonly RunRow[]>();
  await runBatches(parts, { workers, onFinished: (batch, own) => rows.set(batch, own) });
  return rows;
}

test("runBatches gives the rows of trials, with one worker and with two", async () => {
  const [one, two] = [await rowsOf(1), await rowsOf(2)];
  for (const [batch, own] of parts) {
    expect(one.get(batch)).toEqual(trials(own));
    expect(two.get(batch)).toEqual(one.get(batch));
  }
});

test("runBatches stops at a signal, and what was reported by then stays", async () => {
  const controller = new AbortController();
  const seen: number[] = [];
  const work = runBatches(parts, {
    workers: 1,
    signal: controller.signal,
    onFinished(batch) {
      seen.push(batch);
      if (seen.length === 2) controller.abort(new Error("enough"));
    },
  });
  await expect(work).rejects.toThrow("enough");
  expect(seen.length).toBe(2);
});

test("runBatches with nothing to do is done", async () => {
  await runBatches(new Map(), { workers: 2, onFinished: () => expect.unreachable() });
});

test("runBatches fails with what went wrong in a worker", async () => {
  const impossible = new Map([[0, [{ ...cells[0], pointsPerDevice: 2 }]]]);
  await expect(runBatches(impossible, { workers: 1, onFinished: () => {} })).rejects.toThrow(/k = 3 points/);
});

test("runBatches hands the workers the points that cells name", async () => {
  const points = { data: Float64Array.from({ length: 60 }, (_, i) => (i % 2 === 0 ? i : -i)), rows: 30, cols: 2 };
  const given = { own: { datasets: [points], labels: [Uint32Array.from({ length: 30 }, (_, i) => i % 3)] } };
  const own: StudyCell[] = [
    { ...cells[0], dataset: "own", pointsPerDevice: null, devices: 3, graph: "er:1", isScored: true },
  ];
  const rows: (readonly RunRow[])[] = [];
  await runBatches(new Map([[0, own]]), { workers: 1, given, onFinished: (_, found) => rows.push(found) });
  expect(rows).toEqual([trials(own, given)]);
  expect(rows[0][0].nmi).toBeGreaterThanOrEqual(0);
});
