// Noise is held back: a neighbour that jitters for ever does not keep a whole network at work.

import { edges, graph, type Matrix, paperData, randomStream, ring } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { MoveNoise } from "../../src/loop/sender.ts";
import { simulate } from "../../src/simulation/simulate.ts";
import { contractOf } from "../../src/study/study.ts";
import { studyOfPoints } from "../../src/study/studyOfPoints.ts";
import { NOISE_QUIET_MILLISECONDS, NOISE_UPDATES } from "../../src/wire/limits.ts";

/** The level after some blocks of updates of one coordinate, 10 ms apart. */
function levelAfter(blocks: number, at: (update: number) => number, wait = 0): number {
  const noise = new MoveNoise((a, b) => Math.max(...a.map((value, i) => Math.abs(value - b[i]))));
  const updates = blocks * NOISE_UPDATES;
  for (let n = 0; n < updates; n++) noise.note(Float64Array.of(at(n)), 10 * n);
  return noise.level(10 * (updates - 1) + wait);
}

const jitter = (n: number) => (n % 2 === 0 ? 0.001 : -0.001);

describe("the level of noise", () => {
  it("is that of a jitter after the third block, and 0 before", () => {
    expect(levelAfter(2, jitter)).toBe(0);
    expect(levelAfter(3, jitter)).toBeCloseTo(0.003, 12);
  });

  it("is that of a drift as well", () => {
    expect(levelAfter(3, (n) => 1e-6 * n)).toBeCloseTo(1.5e-6 * (NOISE_UPDATES - 1), 9);
  });

  it("stays 0 while moves become smaller, however slowly a network converges", () => {
    for (const rate of [0.9, 0.99, 0.999, 0.9995]) {
      for (let blocks = 1; blocks <= 20; blocks++) expect(levelAfter(blocks, (n) => rate ** n)).toBe(0);
    }
  });

  it("stays 0 where a network that was nearly at rest sets out again and converges", () => {
    const setsOut = (n: number) => 0.01 * 0.99 ** n - 0.5 * (1 - 0.998 ** Math.max(0, n - 2 * NOISE_UPDATES));
    for (let blocks = 1; blocks <= 20; blocks++) expect(levelAfter(blocks, setsOut)).toBe(0);
  });

  it("is that of noise that comes and goes, which is something new only once", () => {
    const comesAndGoes = (n: number) => (Math.floor(n / NOISE_UPDATES) % 2 === 0 ? 0.01 : 1) * jitter(n);
    expect(levelAfter(3, comesAndGoes)).toBe(0);
    for (let blocks = 5; blocks <= 20; blocks++) expect(levelAfter(blocks, comesAndGoes)).toBeCloseTo(0.003, 12);
  });

  it("is 0 again after the quiet time", () => {
    expect(levelAfter(4, jitter, NOISE_QUIET_MILLISECONDS - 1)).toBeGreaterThan(0);
    expect(levelAfter(4, jitter, NOISE_QUIET_MILLISECONDS)).toBe(0);
  });
});

const MINUTE = 60_000;
const JITTERER = 10;

/** A settled ring of ten devices, and an eleventh that is linked to the first and sends what the test says. */
async function ringWithJitterer() {
  const { datasets } = paperData("iso", 11, 100, 1);
  const study = studyOfPoints(datasets, ["x1", "x2"], { name: "noise", alpha: 1 });
  const links = graph(11, [...edges(ring(10)), [0, JITTERER]]);
  const sent = new Array<number>(11).fill(0);
  let last = new Uint8Array(0);
  const network = simulate({
    study,
    contract: await contractOf(study),
    datasets: datasets as Matrix[],
    graph: links,
    seed: 1,
    onEvent({ kind, from, frame }) {
      if (kind !== "arrive") return;
      sent[from] += 1;
      if (from === JITTERER) last = Uint8Array.from(frame);
    },
  });
  network.settle(MINUTE);
  const frame = last;
  const random = randomStream(1, "jitter");
  let sequence = 0;
  /** A minute of 150 frames a second that differ by 1e-3 of the range; then what each device has sent to a neighbour. */
  const jitterForAMinute = () => {
    sent.fill(0);
    for (let n = 0; n < 150 * 60; n++) {
      const copy = frame.slice();
      const view = new DataView(copy.buffer);
      view.setBigUint64(28, 2n ** 40n, true);
      view.setBigUint64(36, BigInt(++sequence), true);
      for (let i = 0; i < 6; i++) {
        const at = copy.length - 8 * (6 - i);
        const { min, max } = study.features[i % 2];
        view.setFloat64(at, view.getFloat64(at, true) + 1e-3 * (max - min) * (2 * random() - 1), true);
      }
      network.forge(JITTERER, 0, copy);
      network.run(1000 / 150);
    }
    return sent.map((frames, i) => frames / links.neighbours[i].length);
  };
  return { network, jitterForAMinute };
}

it("a ring hears of a neighbour's jitter for seconds, then only heartbeats, and settles where it was", async () => {
  const { network, jitterForAMinute } = await ringWithJitterer();
  const before = network.objective();
  const [, ...firstMinute] = jitterForAMinute();
  const [oneHop, ...further] = jitterForAMinute();
  // Every device sent 5,600 frames a minute when each change was sent on.
  expect(Math.max(...firstMinute.slice(0, 9))).toBeLessThan(1_500);
  expect(oneHop).toBeLessThanOrEqual(4);
  expect(Math.max(...further.slice(0, 9))).toBeLessThanOrEqual(3);
  expect(network.settle(2 * MINUTE)).toBe(true);
  expect(Math.abs(network.objective() / before - 1)).toBeLessThan(1e-3);
});
