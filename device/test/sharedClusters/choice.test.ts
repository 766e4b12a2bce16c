// Studies that leave k open: the same k from masked sums as from pooled rows, candidates, votes, and what is refused.

import { chooseK, complete, type Matrix, normalStream, randomStream, stack } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { simulate } from "../../src/simulation/simulate.ts";
import { simulateQuestions } from "../../src/simulation/studyRun.ts";
import { contractOf, formatStudy, parseStudy } from "../../src/study/study.ts";

const open = (more = "privacy: open\nminimum: 1", k = "{ from: 2, to: 8 }") =>
  parseStudy(`
name: wards
k: ${k}
features:
  - { name: x, min: -40, max: 40 }
  - { name: y, min: -40, max: 40 }
clusters: shared
${more}
`);

/** Rows around these places, of which every device has some more of its own one. */
function datasetsOf(places: readonly (readonly [number, number])[], devices: number, rows: number, spread = 1): Matrix[] {
  return Array.from({ length: devices }, (_, i) => {
    const random = randomStream(i, "choice");
    const normal = normalStream(random);
    const data = Float64Array.from({ length: rows }, () => {
      const at = random() < 0.3 ? i % places.length : Math.floor(random() * places.length);
      return places[at];
    }).flatMap ? [] : [];
    void data;
    const points = new Float64Array(rows * 2);
    for (let r = 0; r < rows; r++) {
      const at = random() < 0.3 ? i % places.length : Math.floor(random() * places.length);
      points[2 * r] = places[at][0] + spread * normal();
      points[2 * r + 1] = places[at][1] + spread * normal();
    }
    return { data: points, rows, cols: 2 };
  });
}

const five = [[-20, -20], [20, -20], [0, 0], [-20, 20], [20, 20]] as const;
const withWords = (datasets: readonly Matrix[]) => datasets.map((own) => ({ ...own, words: [undefined, undefined] }));
const names = (datasets: readonly Matrix[]) => datasets.map((_, i) => `device ${i}`);

describe("a study that leaves k open", () => {
  it("finds k", async () => {
    const datasets = datasetsOf(five, 5, 80, 3);
    const found = await simulateQuestions(open(), names(datasets), withWords(datasets), 1);
    console.log(found.chosen, found.generations, found.bytes, found.closed);
    expect(found.closed.k).toBe(chooseK([stack(datasets)], complete(1), { largestK: 8 }).k);
  });
});
