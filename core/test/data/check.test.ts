// Bad input: one clear line each. Legal oddities: no NaN, ever.

import * as core from "@fedkm/core";
import { describe, expect, it } from "vitest";

const { fit, graph, kmeans, matrix, methods, predict, updateDevice } = core;

const two = [matrix([[0], [1], [5]]), matrix([[0], [2], [6]])];
const link = graph(2, [[0, 1]]);
const valid = { k: 2, alpha: 1 };
const typed = (data: number[], rows: number, cols: number) => ({ data: Float64Array.from(data), rows, cols });

/** Each call must throw exactly this line. */
const refusals: [string, () => unknown, string][] = [
  ["k below 1", () => fit(two, link, { ...valid, k: 0 }), "k must be an integer of at least 1, got 0"],
  ["k not whole", () => fit(two, link, { ...valid, k: 1.5 }), "k must be an integer of at least 1, got 1.5"],
  [
    "k above the points",
    () => kmeans(two[0], { k: 7 }),
    "k must be an integer from 1 to 3 (the rows of points), got 7",
  ],
  ["k NaN", () => kmeans(two[0], { k: Number.NaN }), "k must be an integer from 1 to 3 (the rows of points), got NaN"],
  [
    "k above the points of a device with nobody to start from",
    () => fit([two[0], matrix([[1]])], graph(2, []), { ...valid, init: "local" }),
    "device 1 must have at least k = 2 points, a given init or a path to a device with that many points, got 1 points and no such path",
  ],
  [
    "candidates with damping and no safeguard",
    () => fit(two, link, { ...valid, candidates: true, damping: 0.5 }),
    "candidates and freshStarts need safeguard: true with damping below 1 (else the objective can rise), got damping 0.5",
  ],
  [
    "an unknown preset",
    () => fit(two, link, { ...valid, preset: "best" as "paper" }),
    'preset must be one of paper, dependable, got "best"',
  ],
  ["a minimum of 0", () => fit(two, link, { ...valid, minimum: 0 }), "minimum must be an integer of at least 1, got 0"],
  ["ragged rows", () => matrix([[1, 2], [3]]), "row 1 must have 2 numbers (the length of row 0), got 1"],
  ["NaN in rows", () => matrix([[1], [Number.NaN]]), "row 1, column 0 must be a finite number, got NaN"],
  [
    "null in rows",
    () => matrix([[1], [null as unknown as number]]),
    "row 1, column 0 must be a finite number, got null",
  ],
  [
    "flat numbers without their columns",
    () => matrix([1, 2, 3] as unknown as number[][]),
    "row 0 must be a list of numbers (flat numbers: matrix({ data, cols })), got 1",
  ],
  [
    "no rows at all",
    () => matrix(undefined as unknown as number[][]),
    "rows must be a list of rows, or { data, cols } with flat numbers, got undefined",
  ],
  [
    "columns that do not divide flat numbers",
    () => matrix({ data: [1, 2, 3], cols: 2 }),
    "cols must be an integer that divides 3 (the numbers of data), got 2",
  ],
  [
    "NaN in flat numbers",
    () => matrix({ data: Float32Array.of(1, 2, 3, Number.NaN), cols: 2 }),
    "row 1, column 1 must be a finite number, got NaN",
  ],
  ["text in rows", () => matrix([["4" as unknown as number]]), 'row 0, column 0 must be a finite number, got "4"'],
  [
    "NaN in a dataset",
    () => fit([two[0], typed([1, Number.NaN], 2, 1)], link, valid),
    "datasets[1] must hold finite numbers of at most 1e+150 in size, got NaN at row 1, column 0",
  ],
  [
    "infinity in points",
    () => predict(two[0], typed([0, Number.POSITIVE_INFINITY], 2, 1)),
    "points must hold finite numbers of at most 1e+150 in size, got Infinity at row 1, column 0",
  ],
  [
    "a matrix of the wrong length",
    () => predict(two[0], typed([0], 2, 1)),
    "points must hold rows * cols = 2 numbers, got 1",
  ],
  [
    "nested arrays where a matrix is wanted",
    () => kmeans([[1], [2]] as unknown as core.Matrix, { k: 1 }),
    "points must be a Matrix { data: Float64Array, rows, cols }; matrix(rows) makes one",
  ],
  [
    "other columns on another device",
    () =>
      fit(
        [
          two[0],
          matrix([
            [1, 2],
            [3, 4],
          ]),
        ],
        link,
        valid,
      ),
    "datasets[1] must have 1 columns (as datasets[0]), got 2",
  ],
  [
    "an unknown schedule",
    () => fit(two, link, { ...valid, schedule: "spiral" as "cyclic" }),
    'schedule must be one of cyclic, random, coloured, simultaneous, got "spiral"',
  ],
  [
    "a schedule that names a missing device",
    () => fit(two, link, { ...valid, schedule: [[0], [2]] }),
    "schedule[1]: device must be an integer from 0 to 1 (there are 2 devices), got 2",
  ],
  [
    "a step that names a device twice",
    () => fit(two, link, { ...valid, schedule: [[1, 1]] }),
    "schedule[0] must name every device once",
  ],
  [
    "an edge to a missing device",
    () => graph(2, [[0, 2]]),
    "edge 0 (0, 2): device must be an integer from 0 to 1 (the graph has 2 devices), got 2",
  ],
  ["a self-loop", () => graph(2, [[1, 1]]), "edge 0 must join two different devices, got a self-loop at device 1"],
  [
    "an edge given twice",
    () =>
      graph(2, [
        [0, 1],
        [1, 0],
      ]),
    "edges must be given once, got (0, 1) twice",
  ],
  ["a negative weight", () => graph(2, [[0, 1, -1]]), "edge 0 (0, 1): weight must be a finite number above 0, got -1"],
  [
    "a NaN weight",
    () => graph(2, [[0, 1, Number.NaN]]),
    "edge 0 (0, 1): weight must be a finite number above 0, got NaN",
  ],
  [
    "a negative alpha",
    () => fit(two, link, { ...valid, alpha: -1 }),
    "alpha must be a finite number of at least 0, got -1",
  ],
  [
    "a NaN alpha",
    () => fit(two, link, { ...valid, alpha: Number.NaN }),
    "alpha must be a finite number of at least 0, got NaN",
  ],
  [
    "no alpha",
    () => fit(two, link, { k: 2 } as core.FitOptions),
    "alpha must be a finite number of at least 0, got undefined",
  ],
  ["an empty network", () => fit([], link, valid), "datasets needs at least one device"],
  ["an empty graph", () => graph(0, []), "size must be an integer of at least 1, got 0"],
  [
    "no point anywhere",
    () => fit([matrix([]), matrix([])], link, valid),
    "datasets needs at least one point on some device",
  ],
  [
    "a graph of another size",
    () => fit(two, graph(3, []), valid),
    "graph must have 2 devices (one for each of datasets), got 3",
  ],
  ["a seed that is not whole", () => fit(two, link, { ...valid, seed: 0.5 }), "seed must be an integer, got 0.5"],
  [
    "a seed as text",
    () => kmeans(two[0], { k: 1, seed: "7" as unknown as number }),
    'seed must be an integer, got "7"',
  ],
  [
    "an init of the wrong shape",
    () => fit(two, link, { ...valid, init: [matrix([[1]]), matrix([[1], [2]])] }),
    "init[0] must be 2 x 1 (k and the columns of datasets), got 1 x 1",
  ],
  [
    "an init for too few devices",
    () => fit(two, link, { ...valid, init: [matrix([[1], [2]])] }),
    "init must have 2 matrices (one for each of datasets), got 1",
  ],
  [
    "an unknown init",
    () => fit(two, link, { ...valid, init: "best" as "local" }),
    'init must be one of auto, federated, local, kmeans++, classic kmeans++, got "best"',
  ],
  [
    "an unknown coupling",
    () => fit(two, link, { ...valid, coupling: "ot" as "nearest" }),
    'coupling must be one of nearest, transport, got "ot"',
  ],
  [
    "an unknown weighting",
    () => fit(two, link, { ...valid, weighting: "m" as "sample" }),
    'weighting must be one of device, sample, got "m"',
  ],
  [
    "relaxation of 2",
    () => fit(two, link, { ...valid, relaxation: 2 }),
    'relaxation must be a number above 0 and below 2, or "auto", got 2',
  ],
  [
    "damping of 0",
    () => fit(two, link, { ...valid, damping: 0 }),
    "damping must be a number above 0 and at most 1, got 0",
  ],
  ["no passes", () => fit(two, link, { ...valid, passes: 0 }), "passes must be an integer of at least 1, got 0"],
  [
    "negative rounds",
    () => fit(two, link, { ...valid, rounds: -1 }),
    "rounds must be an integer of at least 0, got -1",
  ],
  [
    "weights for other points",
    () => kmeans(two[0], { k: 1, weights: [1] }),
    "weights must have 3 numbers (the rows of points), got 1",
  ],
  [
    "a negative point weight",
    () => kmeans(two[0], { k: 1, weights: [1, -1, 1] }),
    "weights[1] must be a finite number of at least 0, got -1",
  ],
  ["weights all 0", () => kmeans(two[0], { k: 1, weights: [0, 0, 0] }), "weights must not all be 0"],
  [
    "transport to a set of another size",
    () => updateDevice(two[0], matrix([[1], [2]]), [two[1]], { alpha: 1, coupling: "transport" }),
    "neighbours[0] must be 2 x 1 (as centroids), got 3 x 1",
  ],
  [
    "eta of 0",
    () => methods.distributed(two, link, { ...valid, eta: 0 }),
    'eta must be a finite number above 0, or "tuned", got 0',
  ],
  [
    "unknown seeds",
    () => methods.distributed(two, link, { ...valid, seeds: "any" as "local" }),
    'seeds must be one of local, shared, aligned, got "any"',
  ],
  ["a measure of an empty network", () => core.totalVariation([], link), "centroids needs at least one set"],
  [
    "sizes that do not add up",
    () => core.splitBySizes({ points: two[0], labels: new Uint32Array(3) }, [1, 1], 0),
    "sizes must add up to 3 (the rows of points), got 2",
  ],
];

describe("bad input gets one clear line", () => {
  for (const [name, call, line] of refusals) {
    it(name, () => {
      let message = "nothing was refused";
      try {
        call();
      } catch (error) {
        message = (error as Error).message;
      }
      expect(message).toBe(line);
    });
  }

  it("changes nothing: arguments are as before", () => {
    const init = two.map(() => matrix([[1], [2]]));
    const before = structuredClone({ two, init });
    expect(() => fit(two, link, { ...valid, init, alpha: -1 })).toThrow();
    fit(two, link, { ...valid, init });
    expect({ two, init }).toEqual(before);
  });
});

describe("legal oddities give no NaN", () => {
  const finite = (centroids: readonly core.Matrix[]) => centroids.every(({ data }) => data.every(Number.isFinite));
  const everyMethod = (datasets: core.Matrix[], network: core.Graph, k: number) => {
    for (const alpha of [0, 1]) {
      for (const method of Object.values(core.methods)) {
        const { centroids, objective } = method(datasets, network, { k, alpha, rounds: 5 });
        expect(finite(centroids)).toBe(true);
        expect(Number.isFinite(objective)).toBe(true);
      }
    }
  };

  it("duplicate points, constant features, k = the number of distinct points", () => {
    const same = matrix([
      [3, 1],
      [3, 1],
      [3, 2],
      [3, 2],
      [3, 2],
    ]);
    everyMethod([same, same], link, 2);
    everyMethod([same, same], link, 5);
  });

  it("flat numbers of any kind are the matrix of their rows", () => {
    const rows = matrix([
      [1, 2],
      [3, 4],
    ]);
    expect(matrix({ data: [1, 2, 3, 4], cols: 2 })).toEqual(rows);
    expect(matrix({ data: Float32Array.of(1, 2, 3, 4), cols: 2 })).toEqual({
      ...rows,
      data: Float32Array.of(1, 2, 3, 4),
    });
    // A matrix is flat numbers too: it is copied.
    expect(matrix(rows)).toEqual(rows);
    expect(matrix(rows).data).not.toBe(rows.data);
  });

  it("isolated devices", () => everyMethod([...two, two[0]], graph(3, [[0, 1]]), 2));

  it("one device", () => everyMethod([two[0]], graph(1, []), 3));

  it("one point on one device", () => everyMethod([matrix([[4, 5]])], graph(1, []), 1));

  it("a component with fewer points than k has a centroid at each of them", () => {
    const { centroids } = fit([two[0], matrix([[1]])], graph(2, []), valid);
    expect(Array.from(centroids[1].data)).toEqual([1, 1]);
  });

  it("a device with fewer points than k, and one without any, beside a neighbour", () => {
    everyMethod([two[0], matrix([[9]]), matrix([])], core.path(3), 2);
  });

  it("subnormal and large numbers", () => {
    everyMethod([matrix([[5e-324], [0], [-5e-324]]), matrix([[0], [1e-310], [0]])], link, 2);
    everyMethod([matrix([[1e150], [-1e150], [0]]), two[1]], link, 2);
  });
});

describe("kmeans, whose kernel looks at the numbers while it makes points ready", () => {
  /** Shapes for every engine, odd numbers of rows and columns among them. */
  const shapes = [1, 2, 3, 5, 6, 16].flatMap((cols) => [3, 50, 600, 1029].map((rows) => ({ rows, cols })));

  it.each(shapes)("refuses a bad number among $rows x $cols, and says where", ({ rows, cols }) => {
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e151]) {
      for (const at of [0, (rows * cols) >> 1, rows * cols - 1]) {
        const data = Float64Array.from({ length: rows * cols }, (_, i) => Math.sin(i * i));
        data[at] = bad;
        const place = `got ${bad} at row ${Math.floor(at / cols)}, column ${at % cols}`;
        expect(() => kmeans({ data, rows, cols }, { k: 2 })).toThrow(place);
      }
    }
  });
});
