// Whether networks hold together without a few devices, against taking out every few of them.

import { connectedComponents, type Edge, erdosRenyi, graph, randomStream } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { holdsWithout } from "../../src/sharedClusters/roster.ts";

const linksOf = (network: ReturnType<typeof graph>) => network.neighbours.map((others) => Array.from(others));

/** By definition. */
function holdsByTrying(links: readonly (readonly number[])[], fewer: number): boolean {
  if (links.length <= fewer + 1) return false;
  const subsets = (from: number, many: number): number[][] =>
    many === 0
      ? [[]]
      : Array.from({ length: links.length - from }, (_, i) => from + i).flatMap((first) =>
          subsets(first + 1, many - 1).map((rest) => [first, ...rest]),
        );
  return subsets(0, fewer).every((out) => {
    const left = Array.from(links.keys()).filter((v) => !out.includes(v));
    const edges = left.flatMap((v, a) =>
      links[v].flatMap((w): Edge[] => (w > v && left.includes(w) ? [[a, left.indexOf(w)]] : [])),
    );
    return new Set(connectedComponents(graph(left.length, edges))).size === 1;
  });
}

describe("holdsWithout", () => {
  it("says what taking out every few devices says, on 400 random networks", () => {
    let held = 0;
    for (let seed = 0; seed < 400; seed++) {
      const random = randomStream(seed, "connectivity");
      const links = linksOf(erdosRenyi(4 + (seed % 5), 0.4 + 0.5 * random(), random));
      for (const fewer of [1, 2, 3]) {
        const is = holdsByTrying(links, fewer);
        expect(holdsWithout(links, fewer), `seed ${seed}, ${fewer}`).toBe(is);
        if (is) held++;
      }
    }
    // Both answers occur often.
    expect(held).toBeGreaterThan(200);
    expect(held).toBeLessThan(1_000);
  });

  it("refuses devices that one colluder has invented, however many links they have among themselves", () => {
    // 0 to 3 are honest and all linked; 4 is linked to two of them and has invented 5, 6 and 7.
    const honest: Edge[] = [
      [0, 1],
      [0, 2],
      [0, 3],
      [1, 2],
      [1, 3],
      [2, 3],
      [4, 0],
      [4, 1],
    ];
    const invented: Edge[] = [
      [4, 5],
      [4, 6],
      [4, 7],
      [5, 6],
      [5, 7],
      [6, 7],
    ];
    expect(holdsWithout(linksOf(graph(5, honest)), 1)).toBe(true);
    expect(holdsWithout(linksOf(graph(8, [...honest, ...invented])), 1)).toBe(false);
  });
});
