// The device update on rows that answer (E1) later: the same bits as on points at hand, whoever answers first.

import {
  type DeviceUpdate,
  fastKernel,
  kmeans,
  type Matrix,
  matrix,
  type Random,
  type Statistics,
  type StatisticsSource,
  type UpdateOptions,
  updateDevice,
  updateDeviceAsync,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { forAllProblemsLater, type Problem, pickFrom } from "../problems.ts";

type Options = Omit<UpdateOptions, "kernel" | "seed" | "freshStarts">;

/** (E1) as a database would answer it: with nothing but numbers per cluster. */
function statisticsOf(points: Matrix, { data, rows, cols }: Matrix): Statistics {
  const statistics = { counts: new Float64Array(rows), sums: new Float64Array(rows * cols), loss: 0 };
  fastKernel.prepare(points).statistics(data, statistics);
  return statistics;
}

/** Sources whose questions wait together; each tick one of them, drawn at random, is answered. */
function slowSources(datasets: readonly Matrix[], random: Random) {
  const waiting: (() => void)[] = [];
  const sources = datasets.map(
    (points): StatisticsSource => ({
      rows: points.rows,
      cols: points.cols,
      statistics: (centroids) => new Promise((resolve) => waiting.push(() => resolve(statisticsOf(points, centroids)))),
    }),
  );
  const answerUntil = async (isDone: () => boolean) => {
    while (!isDone()) {
      await new Promise(setImmediate);
      waiting.splice(Math.floor(random() * waiting.length), 1)[0]?.();
    }
  };
  return { sources, answerUntil };
}

function anyOptions({ random, alpha, network }: Problem, device: number): Options {
  const safeguard = random() < 0.5;
  const candidates = random() < 0.4;
  const mayDamp = safeguard || !candidates;
  return {
    alpha,
    safeguard,
    candidates,
    damping: mayDamp && random() < 0.5 ? 0.2 + 0.8 * random() : 1,
    passes: pickFrom(random, [1, 2, 5, 100]),
    tol: pickFrom(random, [0, 1e-12, 1e-2]),
    robust: random() < 0.1,
    coupling: pickFrom(random, ["nearest", "transport"] as const),
    relaxation: pickFrom(random, [1, "auto", 0.3 + 1.6 * random()] as const),
    weight: pickFrom(random, [1, 0.5 + random()]),
    edgeWeights: network.weights[device],
  };
}

/** Every number of a result, bit by bit. */
function bitsOf({ centroids, objective, loss, counts, contraction, passes }: DeviceUpdate): BigUint64Array {
  const numbers = [...centroids.data, objective, loss, ...counts, contraction, passes];
  return new BigUint64Array(Float64Array.from(numbers).buffer);
}

describe("updateDeviceAsync", () => {
  it("gives the bits of updateDevice under all options, in whatever order the devices are answered", async () => {
    await forAllProblemsLater("answers that come later", 400, async (problem) => {
      const { datasets, network, init, random } = problem;
      const options = datasets.map((_, i) => anyOptions(problem, i));
      const others = datasets.map((_, i) => Array.from(network.neighbours[i], (j) => init[j]));
      const { sources, answerUntil } = slowSources(datasets, random);
      let isDone = false;
      const later = Promise.all(sources.map((source, i) => updateDeviceAsync(source, init[i], others[i], options[i])));
      const settled = later.finally(() => {
        isDone = true;
      });
      await answerUntil(() => isDone);
      (await settled).forEach((result, i) => {
        const atOnce = updateDevice(datasets[i], init[i], others[i], options[i]);
        expect(bitsOf(result), JSON.stringify(options[i])).toEqual(bitsOf(atOnce));
      });
    });
  });

  it("does Lloyd's iteration to its end where a device is alone", async () => {
    const points = matrix([[0], [1], [9], [10]]);
    const source = { rows: 4, cols: 1, statistics: async (centroids: Matrix) => statisticsOf(points, centroids) };
    const init = matrix([[0], [1]]);
    const { centroids, passes } = await updateDeviceAsync(source, init, [], { alpha: 0, tol: 0 });
    const atOnce = kmeans(points, { k: 2, init });
    expect(Array.from(centroids.data)).toEqual([0.5, 9.5]);
    expect([centroids, passes]).toEqual([atOnce.centroids, atOnce.iterations]);
  });

  it("asks once for the start and once for each pass, and what it asked stays as it was", async () => {
    const points = matrix([[0], [1], [9], [10]]);
    const asked: Matrix[] = [];
    const source = {
      rows: 4,
      cols: 1,
      statistics: async (centroids: Matrix) => {
        asked.push(centroids);
        return statisticsOf(points, centroids);
      },
    };
    await updateDeviceAsync(source, matrix([[0], [1]]), [], { alpha: 0, passes: 2, damping: 0.5 });
    expect(asked.map(({ data }) => Array.from(data))).toEqual([
      [0, 1],
      [0, 20 / 3],
      [0.25, 5.25],
    ]);
  });

  it("leaves its neighbours and centroids as they were", async () => {
    const [own, other] = [matrix([[1], [3]]), matrix([[0], [10]])];
    const source = { rows: 1, cols: 1, statistics: async (at: Matrix) => statisticsOf(matrix([[2]]), at) };
    await updateDeviceAsync(source, own, [other], { alpha: 1, candidates: true });
    expect([...own.data, ...other.data]).toEqual([1, 3, 0, 10]);
  });

  it("passes on what a source throws", async () => {
    const source = { rows: 1, cols: 1, statistics: () => Promise.reject(new Error("connection lost")) };
    await expect(updateDeviceAsync(source, matrix([[1]]), [], { alpha: 1 })).rejects.toThrow("connection lost");
  });

  it("refuses fresh starts, a source of other columns, and answers that are none", async () => {
    const answer = (statistics: Partial<Statistics>, options = {}, cols = 2) =>
      updateDeviceAsync(
        {
          rows: 3,
          cols,
          statistics: async () => ({ counts: Float64Array.of(3), sums: new Float64Array(2), loss: 1, ...statistics }),
        },
        matrix([[0, 0]]),
        [],
        { alpha: 1, ...options },
      );
    const refusals = [
      [answer({}, { freshStarts: 2 }), "freshStarts must be 0 (they are drawn from points, a source has none), got 2"],
      [answer({}, {}, 3), "source must have 2 columns (as centroids), got 3"],
      [answer({ sums: new Float64Array(3) }), "statistics must hold 1 counts and 2 sums, got 1 and 3"],
      [answer({ counts: Float64Array.of(2) }), "counts must add up to 3 (the rows of source), got 2"],
      [answer({ sums: Float64Array.of(0, Number.NaN) }), "sums[1] must be a finite number, got NaN"],
      [answer({ loss: Number.NaN }), "loss must be a finite number of at least 0, got NaN"],
    ] as const;
    for (const [refused, message] of refusals) await expect(refused).rejects.toThrow(message);
    await expect(answer({})).resolves.toMatchObject({ passes: 0 });
  });
});
