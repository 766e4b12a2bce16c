// Arguments that are missing or of a wrong kind, and options by unknown names: every public function refuses them by name.

import * as core from "@fedkm/core";
import { startThreads } from "@fedkm/core/threads";
import { describe, expect, it } from "vitest";

const { complete, fit, kmeans, matrix, methods, paperData, randomStream, partialFit } = core;

const points = matrix([[0], [1], [5], [6]]);
const datasets = [points, matrix([[0], [2], [6], [7]])];
const network = complete(2);
const centroids = matrix([[0], [6]]);
const random = randomStream(1);
const drawn = { points, labels: Uint32Array.of(0, 0, 1, 1) };
const few = { k: 2, alpha: 1, restarts: 1, rounds: 1 };
const model = fit(datasets, network, few);
const source: core.StatisticsSource = { rows: 4, cols: 1, statistics: () => Promise.reject(new Error("not asked")) };

/** One good call of every public function, by which wrong ones are made. */
const calls: Record<string, readonly unknown[]> = {
  certify: [datasets, network, model, { alpha: 1 }],
  chooseAlpha: [datasets, network, { k: 1, alphas: [0], folds: 2 }],
  choose: [datasets, network, { largestK: 1, alphas: [0], folds: 2 }],
  chooseClusters: [datasets, network, { largestK: 1 }],
  chooseK: [datasets, network, { largestK: 1 }],
  clusterVerdict: [datasets, network, centroids, {}],
  chooseLinks: [datasets, network, { k: 2 }],
  paperData: ["iso", 2, 5, 1],
  splitByClasses: [drawn, 2, 1, 1],
  splitByLabel: [drawn, 2, 1, 1],
  splitBySizes: [drawn, [1, 3], 1],
  splitEvenly: [drawn, 2, 1],
  communityData: [2, 5, 1],
  fit: [datasets, network, few],
  fitRounds: [datasets, network, few],
  partialFit: [partialFit(undefined, datasets, network, few), datasets, network, few],
  communities: [[1, 2], 1, 0, random],
  complete: [2],
  connectedComponents: [network],
  edges: [network],
  erdosRenyi: [4, 0.5, random],
  geometric: [4, 0.5, random],
  graph: [2, [[0, 1]]],
  grid: [2, 2],
  path: [2],
  ring: [2],
  smallWorld: [6, 2, 0.5, random],
  star: [2],
  subgraph: [network, [0]],
  kmeans: [points, { k: 2 }],
  matrix: [[[1]]],
  stack: [datasets],
  takeRows: [points, [0]],
  toRows: [points],
  adjustedRandIndex: [
    [0, 1],
    [0, 1],
  ],
  consensusVariation: [model.centroids, network],
  discrepancy: [centroids, centroids],
  distortion: [datasets, model.centroids],
  globalCentroidDeviation: [model.centroids, centroids],
  matchCentroids: [centroids, centroids],
  normalizedMutualInformation: [
    [0, 1],
    [0, 1],
  ],
  objective: [datasets, model.centroids, network, { alpha: 1 }],
  simplifiedSilhouette: [points, centroids],
  stationarityResidual: [datasets, network, model.centroids, { alpha: 1 }],
  totalVariation: [model.centroids, network],
  pooledReference: [points, { k: 2 }],
  consensusRounds: [datasets, network, few],
  distributedRounds: [datasets, network, few],
  floodSettings: ["own", datasets, network, few],
  lateKfedLabels: [points, centroids, { k: 2 }],
  methodOfAnswer: [() => ({ centroids: [], traffic: { messages: 0, bytes: 0 } })],
  methodOfRounds: [() => () => ({ largestMove: 0, converged: true })],
  predict: [centroids, points],
  normalStream: [random],
  randomStream: [1],
  largestRobustDrift: [100],
  laplacianExtremes: [network],
  updateDevice: [points, centroids, [centroids], { alpha: 1 }],
  updateDeviceAsync: [source, centroids, [centroids], { alpha: 1 }],
  ...Object.fromEntries(Object.keys(methods).map((name) => [`methods.${name}`, [datasets, network, few]])),
};

/** What a method of one's own is made with: the arguments come from `methodOfRounds` and `methodOfAnswer`, which check. */
const tools = [
  ...[
    "commitNetworkUpdate",
    "refreshNetworkStatistics",
    "orderMethodSeeds",
    "largestNetworkCoordinate",
    "centroidsToFlood",
    "centroidsOfFlood",
  ],
  ...["solveFlood", "collectFlood", "sendTraffic", "floodTraffic", "sumTraffic", "addTraffic"],
  // Its reference comes from `pooledReference`.
  "unbeatenReference",
];

/** Arguments that may be left out. */
const optional = [
  "certify 3",
  "choose 2",
  "chooseClusters 2",
  "chooseK 2",
  "clusterVerdict 3",
  "consensusVariation 2",
  "discrepancy 2",
  "globalCentroidDeviation 2",
];

type Call = (...given: readonly unknown[]) => unknown;

function functionOf(name: string): Call {
  const [first, second] = name.split(".");
  return Object.entries(second === undefined ? core : methods).find(([own]) => own === (second ?? first))?.[1] as Call;
}

/** What a call refuses with; generators are asked for their first value. */
async function refusalOf(name: string, given: readonly unknown[]): Promise<Error | undefined> {
  try {
    const result = functionOf(name)(...given);
    if (typeof result === "object" && result !== null && "next" in result) (result as Generator).next();
    await result;
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

const isPlain = (error: Error) =>
  (error instanceof RangeError || error instanceof TypeError) &&
  /^[a-z]/.test(error.message) &&
  !/\n|Cannot|undefined \(reading|is not (a function|iterable|a constructor)|[Ii]nvalid|[Dd]estructure/.test(
    error.message,
  );

/** Of every kind, none of which fits everywhere. */
const wrongs: readonly unknown[] = [
  ...[undefined, null, true, 7.5, -1, Number.NaN, "text", "", Symbol("s"), 7n],
  ...[{}, [], [null], [[]], [undefined], () => 1, new Map(), Object.create(null), new Float64Array(2)],
];

describe("every public function", () => {
  it("is called here, but for the tools of methods", () => {
    const functions = Object.entries(core).flatMap(([name, value]) => (typeof value === "function" ? [name] : []));
    const called = Object.keys(calls).filter((name) => !name.startsWith("methods."));
    expect([...functions].sort()).toEqual([...called, ...tools].sort());
  });

  it("takes the good call", async () => {
    for (const [name, given] of Object.entries(calls)) {
      const refusal = await refusalOf(name, given);
      expect(refusal?.message, name).toBe(name === "updateDeviceAsync" ? "not asked" : undefined);
    }
  });

  it("refuses missing arguments by name, in one line", async () => {
    for (const [name, given] of Object.entries(calls)) {
      for (let kept = 0; kept < given.length; kept++) {
        if (optional.includes(`${name} ${kept}`)) continue;
        const refusal = await refusalOf(name, given.slice(0, kept));
        expect(refusal, `${name} with ${kept} arguments`).toBeDefined();
        expect(isPlain(refusal as Error), `${name} with ${kept} arguments: ${refusal}`).toBe(true);
      }
    }
  });

  it("refuses arguments of a wrong kind in one line, and never from inside", async () => {
    for (const [name, given] of Object.entries(calls)) {
      for (let at = 0; at < given.length; at++) {
        // One function for another: what it answers is beyond any check.
        for (const wrong of wrongs.filter((value) => typeof value !== "function" || typeof given[at] !== "function")) {
          const refusal = await refusalOf(name, given.with(at, wrong));
          if (refusal === undefined || refusal.message === "not asked") continue;
          expect(isPlain(refusal), `${name}, argument ${at} ${typeof wrong}: ${refusal}`).toBe(true);
        }
      }
    }
  });
});

describe("options", () => {
  const isOptions = (value: unknown) => ["k", "alpha", "largestK"].some((name) => Object.hasOwn(Object(value), name));
  const withOptions = Object.entries(calls).filter(([, given]) => isOptions(given.at(-1)));

  it("that are unknown are refused with the nearest name", async () => {
    expect(withOptions.length).toBeGreaterThan(20);
    for (const [name, given] of withOptions) {
      const [known] = Object.keys(given.at(-1) as object);
      const slip = known.length > 1 ? known[1] + known[0] + known.slice(2) : `${known}k`;
      const refusal = await refusalOf(name, given.with(-1, { ...(given.at(-1) as object), [slip]: 1 }));
      expect(refusal?.message, name).toBe(`unknown option "${slip}", did you mean "${known}"?`);
    }
    const far = () => kmeans(points, { k: 2, colour: "red" } as core.KMeansOptions);
    const names = "k, weights, init, empty, restarts, maxIter, tol, seed, kernel";
    expect(far).toThrow(new TypeError(`unknown option "colour", options are ${names}`));
    await expect(startThreads({ thread: 2 } as object)).rejects.toThrow(
      'unknown option "thread", did you mean "threads"?',
    );
  });

  it("of a wrong kind are refused in one line, and never from inside", async () => {
    const names = ["weights", "init", "kernel", "signal", "schedule", "bounds", "edgeWeights", "alphas", "seed", "k"];
    for (const [name, given] of withOptions) {
      for (const option of [...names, ...Object.keys(given.at(-1) as object)]) {
        for (const wrong of [null, "text", {}, [null], Object.create(null)]) {
          const refusal = await refusalOf(name, given.with(-1, { ...(given.at(-1) as object), [option]: wrong }));
          if (refusal === undefined || refusal.message === "not asked") continue;
          expect(isPlain(refusal), `${name}, ${option} ${typeof wrong}: ${refusal}`).toBe(true);
        }
      }
    }
  });

  it("that are undefined are as if they were not given", () => {
    const { datasets: drawnSets } = paperData("iso", 3, 20, 1);
    const unsaid = { seed: undefined, tol: undefined, kernel: undefined, restarts: undefined, init: undefined };
    const [own] = drawnSets;
    expect(kmeans(own, { k: 3, ...unsaid, weights: undefined, maxIter: undefined })).toEqual(kmeans(own, { k: 3 }));
    const said = { k: 3, alpha: 1 };
    const network3 = complete(3);
    const all = {
      ...said,
      ...unsaid,
      ...{ preset: undefined, rounds: undefined, schedule: undefined, weighting: undefined, minimum: undefined },
      ...{ signal: undefined, coupling: undefined, passes: undefined, relaxation: undefined, damping: undefined },
      ...{
        safeguard: undefined,
        candidates: undefined,
        freshStarts: undefined,
        robust: undefined,
        denominatorFloor: undefined,
      },
    };
    expect(fit(drawnSets, network3, all)).toEqual(fit(drawnSets, network3, said));
    const others = {
      ...{ eta: undefined, seeds: undefined, beta: undefined, settle: undefined, rho: undefined, exchanges: undefined },
      ...{ coresetSize: undefined, backboneSize: undefined, counts: undefined },
      ...{ epsilon: undefined, bounds: undefined, localCentroids: undefined, localIterations: undefined },
    };
    for (const [name, method] of Object.entries(methods)) {
      expect(method(drawnSets, network3, { ...all, ...others }), name).toEqual(method(drawnSets, network3, said));
    }
  });

  it("of methods need no alpha where it does not steer; their objective is then the loss alone", () => {
    const { fedkm, ...others } = methods;
    for (const [name, method] of Object.entries(others)) {
      const { objective, centroids: found } = method(datasets, network, { k: 2, rounds: 2 });
      const weighting = name === "consensus" ? "sample" : "device";
      expect(objective, name).toBeCloseTo(core.objective(datasets, found, network, { alpha: 0, weighting }), 12);
      expect(method(datasets, network, { k: 2, rounds: 2, alpha: 5 }).centroids, name).toEqual(found);
    }
    // @ts-expect-error it steers fedkm
    expect(() => fedkm(datasets, network, { k: 2 })).toThrow("alpha must be a finite number of at least 0");
    const pooled = () => {
      // @ts-expect-error the compiler refuses what a method does not use
      methods.pooled(datasets, network, { k: 2, damping: 0.5 });
    };
    expect(pooled).not.toThrow();
  });

  it("have tables that name every option of every method", () => {
    for (const [name, method] of Object.entries(methods)) {
      for (const option of Object.keys(method.takes)) {
        const given = { k: 2, alpha: 1, [option]: undefined };
        expect(() => (method as core.Method)(datasets, network, given), `${name}.${option}`).not.toThrow();
      }
    }
  });
});
