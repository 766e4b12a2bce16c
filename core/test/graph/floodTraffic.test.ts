import { complete, erdosRenyi, graph, path, randomStream, ring, star } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { floodTraffic, sendTraffic, sumTraffic } from "../../src/graph/traffic.ts";
import { addUp, flood } from "../methods/wire.ts";

describe("floodTraffic(graph, numbers)", () => {
  it("is what a counter around every message counts", () => {
    const random = randomStream(1, "flood test");
    for (let trial = 0; trial < 300; trial++) {
      const size = 1 + Math.floor(random() * 12);
      const network = erdosRenyi(size, random(), random);
      const numbers = Array.from({ length: size }, () => (random() < 0.2 ? 0 : Math.floor(random() * 9)));
      const wire = { messages: 0, bytes: 0 };
      flood(wire, network, numbers);
      expect(floodTraffic(network, numbers)).toEqual(wire);
    }
  });

  it("reaches everybody in one hop on a complete graph, and pays for the echo", () => {
    // Everyone tells its own, then passes on the others' four.
    expect(floodTraffic(complete(5), [1, 1, 1, 1, 1])).toEqual({ messages: 10, bytes: 5 * 4 * 8 * 5 });
  });

  it("bounds the messages of a large network from below, with exact bytes", () => {
    const size = 1500;
    const large = floodTraffic(ring(size), new Uint32Array(size).fill(1));
    expect(large.bytes).toBe(size * 2 * 8 * size);
    expect(large.messages).toBeLessThanOrEqual(size * (1 + size / 2));
    expect(large.messages).toBeGreaterThan(0.7 * size * (1 + size / 2));
  });
});

describe("sumTraffic(graph, numbers)", () => {
  it("is what a counter around every message counts", () => {
    const random = randomStream(2, "sum test");
    for (let trial = 0; trial < 100; trial++) {
      const network = erdosRenyi(1 + Math.floor(random() * 12), random(), random);
      const wire = { messages: 0, bytes: 0 };
      addUp(wire, network, 3);
      expect(sumTraffic(network, 3)).toEqual(wire);
    }
  });

  it("goes up a tree and down again, each component its own", () => {
    // A path of 4 from its end: three up, three down, each link twice.
    expect(sumTraffic(path(4), 5)).toEqual({ messages: 6, bytes: 2 * 3 * 5 * 8 });
    // A star from its middle: three up, one tell down.
    expect(sumTraffic(star(4), 1)).toEqual({ messages: 4, bytes: 2 * 3 * 8 });
    expect(
      sumTraffic(
        graph(5, [
          [0, 1],
          [3, 4],
        ]),
        1,
      ),
    ).toEqual({ messages: 4, bytes: 2 * 2 * 8 });
    expect(sumTraffic(graph(2, []), 7)).toEqual({ messages: 0, bytes: 0 });
  });
});

describe("sendTraffic(graph, numbers)", () => {
  it("counts a message per device with something to say and somebody to hear it", () => {
    expect(sendTraffic(star(4), [3, 1, 0, 1])).toEqual({ messages: 3, bytes: 8 * (3 * 3 + 1 + 1) });
    expect(sendTraffic(graph(2, []), [3, 3])).toEqual({ messages: 0, bytes: 0 });
    expect(sendTraffic(path(2), [1, 1])).toEqual({ messages: 2, bytes: 16 });
  });
});
