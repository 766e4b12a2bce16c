// Guarded devices whose data grow and change: clusters stay those of k-means, nearly all rows count, and nothing is hidden.

import { complete, distortion, kmeans, type Matrix, normalStream, randomStream } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/runs.ts";
import { GuardedRows } from "../../src/privacy/guardedRows.ts";
import { simulate } from "../../src/simulation/simulate.ts";
import { contractOf, type Study } from "../../src/study/study.ts";
import { studyWith } from "../problem.ts";

const guarded = studyWith({ privacy: "guarded", minimum: 10 });

/** Rows of three clusters, one after the other. */
function drawing(seed: number): () => number[] {
  const random = randomStream(seed, "growth");
  const normal = normalStream(random);
  return () => {
    const angle = (2 * Math.PI * Math.floor(3 * random())) / 3;
    return [8 * Math.cos(angle) + normal(), 8 * Math.sin(angle) + normal()];
  };
}

const toMatrix = (rows: readonly (readonly number[])[]): Matrix => {
  return { data: Float64Array.from(rows.flat()), rows: rows.length, cols: 2 };
};

/** The cost of device 0 to that of k-means on all rows, after steps in which rows come and, if so, as many go; and the
 * largest share of its rows that did not count after any of them. */
async function changed(
  study: Study,
  devices: number,
  { by, steps, isChurn }: { by: number; steps: number; isChurn: boolean },
) {
  const draw = drawing(by);
  const random = randomStream(by, "which");
  const rows = Array.from({ length: devices }, () => Array.from({ length: 300 }, draw));
  const graph = complete(Math.max(2, devices));
  const datasets = [...rows.map(toMatrix), ...(devices === 1 ? [toMatrix([])] : [])];
  const absent = devices === 1 ? [1] : [];
  const network = simulate({ study, contract: await contractOf(study), datasets, graph, absent, seed: 1 });
  network.run(20_000);
  let out = 0;
  for (let step = 0; step < steps; step++) {
    for (const [i, own] of rows.entries()) {
      own.push(...Array.from({ length: by }, draw));
      for (let n = 0; isChurn && n < by; n++) own.splice(Math.floor(random() * own.length), 1);
      network.setRows(i, toMatrix(own));
    }
    network.run(3_000);
    const { fresh = 0, guests = 0 } = network.status(0).guarded?.rowsWaiting ?? {};
    out = Math.max(out, (fresh + guests) / rows[0].length);
  }
  const all = toMatrix(rows.flat());
  const best = kmeans(all, { k: 3 }).centroids;
  const { rowsHeldBack, smallestClass } = network.status(0).guarded ?? {};
  return {
    ratio: distortion([all], [network.centroids()[0]]) / distortion([all], [best]),
    out,
    rowsHeldBack,
    smallestClass,
  };
}

describe("a guarded device", () => {
  it("stays at the cost of k-means while its file grows by tens", async () => {
    const { ratio, out, smallestClass } = await changed(guarded, 1, {
      by: 10,
      steps: runs({ short: 30, long: 120 }),
      isChurn: false,
    });
    expect(ratio).toBeLessThan(1.01);
    expect(out).toBeLessThan(0.15);
    expect(smallestClass).toBe(10);
  });

  it("stays near it while as many rows go as come, and rows that outlive their class count again", async () => {
    const { ratio, out } = await changed(guarded, 1, { by: 10, steps: runs({ short: 40, long: 120 }), isChurn: true });
    expect(ratio).toBeLessThan(1.02);
    expect(out).toBeLessThan(0.15);
  });

  it("stays at the cost of k-means with shared clusters", async () => {
    const shared = studyWith({ ...guarded, clusters: "shared" });
    const { ratio } = await changed(shared, 3, { by: 10, steps: runs({ short: 10, long: 30 }), isChurn: false });
    expect(ratio).toBeLessThan(1.01);
  });

  it("says how many rows are held back also after data were read that let nobody in, and after a restart", () => {
    const random = randomStream(3, "held back");
    const rows = Array.from({ length: 60 }, () => [10 * random(), 10 * random()]);
    let saved: Uint8Array | undefined;
    const started = () =>
      new GuardedRows(studyWith({ ...guarded, k: 2 }), {
        memory: {
          saved,
          isLost: false,
          keep: (bytes, done) => {
            saved = bytes;
            done(undefined);
          },
        },
        onKept() {},
        wallClock: () => 1,
      });
    const own = started();
    own.take(toMatrix(rows));
    for (const x of [2, 4, 6, 8, 3, 5, 7]) {
      own.publish({ data: Float64Array.of(x - 1, 5, x + 1, 5.5), rows: 2, cols: 2 });
    }
    const held = own.status().rowsHeldBack;
    expect(held).toBeGreaterThan(0);
    own.take(toMatrix([...rows, [5, 5]]));
    expect(own.status()).toMatchObject({ rowsHeldBack: held, rowsWaiting: { fresh: 1 } });
    expect(own.isKept()).toBe(true);
    const again = started();
    again.take(toMatrix([...rows, [5, 5]]));
    expect(again.status().rowsHeldBack).toBe(held);
  });
});
