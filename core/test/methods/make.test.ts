// Methods made from outside: those of the table, written with the public tools alone, give the same bits.

import { expect, test } from "vitest";
import {
  centroidsOfFlood,
  centroidsToFlood,
  collectFlood,
  commitNetworkUpdate,
  edges,
  erdosRenyi,
  floodSettings,
  floodTraffic,
  kmeans,
  largestNetworkCoordinate,
  type Method,
  type MethodOptions,
  matrix,
  methodOfAnswer,
  methodOfRounds,
  methods,
  type NetworkState,
  orderMethodSeeds,
  paperData,
  randomStream,
  refreshNetworkStatistics,
  ring,
  sendTraffic,
  solveFlood,
} from "../../src/index.ts";

const { datasets } = paperData("var", 6, 50, 3);
const network = erdosRenyi(6, 0.6, randomStream(3, "graph"));
const options = { k: 3, alpha: 1, seed: 3, rounds: 25 };

/** Forero's rule: (M) with multipliers, then the multipliers. */
function admmRound({ graph, k, sets, counts, sums, updated }: NetworkState, p: Float64Array, eta: number): void {
  const { data, cols } = sets;
  graph.neighbours.forEach((links, j) => {
    for (let at = j * k * cols; at < (j + 1) * k * cols; at++) {
      const weight = counts[Math.floor(at / cols)] + 2 * eta * links.length;
      let around = links.length * data[at];
      for (const i of links) around += data[at + (i - j) * k * cols];
      updated[at] = weight > 0 ? (sums[at] - p[at] + eta * around) / weight : data[at];
    }
  });
}

const forero = (eta: number): Method =>
  methodOfRounds((state, { seeds = "local" }: MethodOptions) => {
    const { graph, k, sets } = state;
    const length = k * sets.cols;
    orderMethodSeeds(state, seeds);
    const multipliers = new Float64Array(sets.data.length);
    return () => {
      admmRound(state, multipliers, eta);
      const moves = datasets.map((_, i) => commitNetworkUpdate(state, i));
      datasets.forEach((_, i) => {
        refreshNetworkStatistics(state, i);
        for (let x = i * length; x < (i + 1) * length; x++) {
          let sum = 0;
          for (const j of graph.neighbours[i]) sum += sets.data[x] - sets.data[x + (j - i) * length];
          multipliers[x] += eta * sum;
        }
      });
      return { largestMove: Math.max(...moves), converged: false };
    };
  });

test("methodOfRounds makes distributed k-means, bit for bit, with its history and its traffic", () => {
  for (const seeds of ["local", "aligned"] as const) {
    const own = forero(2)(datasets, network, { ...options, seeds });
    const { centroids, history, messages, bytes } = methods.distributed(datasets, network, { ...options, seeds });
    expect(own).toMatchObject({ centroids, history, messages, bytes, rounds: 25 });
  }
});

test("methodOfAnswer makes the clusters backbone, bit for bit", () => {
  const backbone = methodOfAnswer((points, graph, asked) => {
    const settings = floodSettings("backbone", points, graph, asked);
    const flooded = points.map((own, i) => centroidsToFlood(own, 2 * settings.k + 2, i, settings));
    const centroids = solveFlood(graph, (devices) => {
      const parts = devices.map((i) => ({
        centroids: flooded[i],
        counts: new Float64Array(flooded[i].rows).fill(1),
      }));
      return centroidsOfFlood(collectFlood(parts, devices[0], "points"), devices[0], settings).centroids;
    });
    return {
      centroids,
      traffic: floodTraffic(
        graph,
        flooded.map(({ data }) => data.length),
      ),
    };
  });
  const { collector, ...model } = methods.backbone(datasets, network, options);
  expect(backbone(datasets, network, options)).toEqual(model);
  expect(collector?.messages).toBeGreaterThan(0);
});

test("a method that is made ends when it says so, stops by its signal, and checks its arguments", () => {
  const still = methodOfRounds((state) => () => {
    expect(largestNetworkCoordinate(state, 0)).toBe(Math.max(...state.sets.data.slice(0, 6).map(Math.abs)));
    return { largestMove: 0, converged: true };
  });
  expect(still(datasets, network, options)).toMatchObject({ rounds: 1, converged: true });
  expect(() => still(datasets, network, { ...options, signal: AbortSignal.abort() })).toThrow("abort");
  expect(() => still(datasets, ring(5), options)).toThrow("graph must have 6 devices");
  expect(() => still(datasets, network, { ...options, k: 0 })).toThrow("k must be");
  const [first] = datasets;
  const one = methodOfAnswer((all, graph, { k }) => {
    const { centroids } = kmeans(first, { k });
    const traffic = sendTraffic(
      graph,
      all.map((_, i) => (i === 0 ? centroids.data.length : 0)),
    );
    return { centroids: all.map(() => centroids), traffic };
  });
  const { messages, bytes, objective, history } = one(datasets, network, options);
  const degree = Array.from(edges(network)).filter(([i, j]) => i === 0 || j === 0).length;
  expect({ messages, bytes, rounds: history.length }).toEqual({ messages: 1, bytes: degree * 48, rounds: 1 });
  expect(objective).toBeGreaterThan(0);
  expect(() => one([matrix([[1]])], ring(3), options)).toThrow("graph must have 1 devices");
});

test("a method that was made says what travels and what it takes, where its maker does", () => {
  const answer = () => ({ centroids: [], traffic: { messages: 0, bytes: 0 } });
  const about = { travels: "nothing", takes: { depth: ["number"] } };
  expect({ ...methodOfAnswer(answer, about) }).toEqual(about);
  expect({ ...methodOfRounds(() => () => ({ largestMove: 0, converged: true }), about) }).toEqual(about);
  expect(methodOfAnswer(answer).takes).toBeUndefined();
});
