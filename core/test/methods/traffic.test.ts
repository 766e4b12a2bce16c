// Every method of the table on one problem: reported messages and bytes against its protocol, acted out and counted.

import {
  type CoresetModel,
  type FitModel,
  fit,
  graph,
  type Matrix,
  type Method,
  type MethodOptions,
  matrix,
  methods,
  normalStream,
  path,
  randomStream,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { addUp, collect, flood, handOver, tell, type Wire } from "./wire.ts";

/** Two clusters far apart on every device: sketches then have one best answer, and no cluster is too small to be told. */
const sizes = [40, 12, 20, 24, 16, 30, 20, 20];
const datasets = sizes.map((rows, i): Matrix => {
  const normal = normalStream(randomStream(i, "traffic"));
  return matrix(Array.from({ length: rows }, (_, r) => [(r % 2) * 50 + normal(), normal()]));
});
/** A ring with a chord and a tail, and two devices apart. */
const network = graph(8, [
  [0, 1],
  [1, 2],
  [2, 3, 2],
  [3, 0],
  [0, 2],
  [3, 4],
  [4, 5],
  [6, 7],
]);
const k = 2;
const cols = 2;
const options: MethodOptions = { k, alpha: 1, seed: 1, rounds: 5 };

/** A sketch has a centroid for four points, from k to 4 k, each with its count. */
const sketches = sizes.map((rows) => Math.min(4 * k, Math.max(k, Math.floor(rows / 4))) * (cols + 1));
const records = sizes.map((rows) => rows * cols);
const partsOf = (model: FitModel) => (model as CoresetModel).parts.map(({ points }) => points.rows * (cols + 1));
const everyone = (numbers: number) => sizes.map(() => numbers);
const times = (count: number, act: () => void) => {
  for (let n = 0; n < count; n++) act();
};
const tellCentroids = (wire: Wire) => tell(wire, network, k * cols);

const protocols: Record<keyof typeof methods, (wire: Wire, model: FitModel) => void> = {
  // Both starts, the sum that chooses between them, and every device once a round.
  fedkm(wire, { rounds }) {
    flood(wire, network, sketches);
    tellCentroids(wire);
    addUp(wire, network, 2);
    times(rounds, () => tellCentroids(wire));
  },
  // Pooled counts, sums and loss: of the seed, then of eight starts in two steps and once to judge. Then counts and sums
  // of every further step.
  consensus(wire, { rounds }) {
    const pooled = k * (cols + 1) + 1;
    flood(wire, network, sketches);
    for (const starts of [1, 8, 8, 8]) addUp(wire, network, starts * pooled);
    times(rounds, () => addUp(wire, network, pooled - 1));
  },
  local() {},
  pooled(wire) {
    flood(wire, network, records);
  },
  distributed(wire, { rounds }) {
    times(1 + rounds, () => tellCentroids(wire));
  },
  gradient(wire, { rounds }) {
    times(1 + 3 * rounds, () => tellCentroids(wire));
  },
  // Costs, then samples and centres with their weights.
  coreset(wire, model) {
    flood(wire, network, everyone(1));
    flood(wire, network, partsOf(model));
  },
  backbone(wire) {
    flood(wire, network, everyone((2 * k + 2) * cols));
  },
  kfed(wire) {
    flood(wire, network, everyone(k * cols));
  },
  fkm(wire, { rounds }) {
    times(1 + rounds, () => flood(wire, network, everyone(k * (cols + 1))));
  },
};

/** The same where one place collects what everybody must know. Other methods have no such place. */
const collectors: Partial<Record<keyof typeof methods, (wire: Wire, model: FitModel) => void>> = {
  pooled(wire) {
    collect(wire, records, k * cols);
  },
  // The sum of the costs comes back before anybody can sample.
  coreset(wire, model) {
    collect(wire, everyone(1), 1);
    collect(wire, partsOf(model), k * cols);
  },
  backbone(wire) {
    collect(wire, everyone((2 * k + 2) * cols), k * cols);
  },
  kfed(wire) {
    collect(wire, everyone(k * cols), k * cols);
  },
  fkm(wire, { rounds }) {
    times(1 + rounds, () => collect(wire, everyone(k * (cols + 1)), k * cols));
  },
};

const counted = (act: (wire: Wire) => void): Wire => {
  const wire = { messages: 0, bytes: 0 };
  act(wire);
  return wire;
};

describe("messages and bytes", () => {
  for (const [name, method] of Object.entries<Method>(methods)) {
    it(`of ${name} are those of its protocol, counted`, () => {
      const model = method(datasets, network, options);
      const protocol = protocols[name as keyof typeof methods];
      expect({ messages: model.messages, bytes: model.bytes }).toEqual(counted((wire) => protocol(wire, model)));
      const collector = collectors[name as keyof typeof methods];
      expect(model.collector).toEqual(collector && counted((wire) => collector(wire, model)));
    });
  }

  it("of given, own and federated starts are one tell, one tell, one flood", () => {
    const traffic = (init: NonNullable<MethodOptions["init"]>) => {
      const { messages, bytes } = fit(datasets, network, { ...options, init, rounds: 0 });
      return { messages, bytes };
    };
    const given = datasets.map(() =>
      matrix([
        [0, 0],
        [50, 0],
      ]),
    );
    expect(traffic(given)).toEqual(counted(tellCentroids));
    expect(traffic("local")).toEqual(counted(tellCentroids));
    expect(traffic("federated")).toEqual(counted((wire) => flood(wire, network, sketches)));
  });

  it("of a federated start where small devices send up a tree, and the first that is not small floods for them", () => {
    const places = [0, 50, 100, 150];
    const rowsOf = (own: number, i: number) =>
      matrix(Array.from({ length: own }, (_, r) => [places[(r + i) % 4] + r / 8 + i / 64, 0]));
    const { messages, bytes } = fit([20, 2, 3, 2, 20, 1].map(rowsOf), path(6), {
      k: 4,
      alpha: 1,
      init: "federated",
      rounds: 0,
    });
    const wire = counted((own) => {
      // From 5 to 4, which floods it, and from 3 by 2 and 1 to 0, which does.
      for (const rows of [1, 2, 2 + 3, 2 + 3 + 2]) handOver(own, rows * (cols + 1));
      flood(own, path(6), [(5 + 7) * (cols + 1), 0, 0, 0, (5 + 1) * (cols + 1), 0]);
    });
    expect({ messages, bytes }).toEqual(wire);
  });

  it("of consensus with kept labels include the largest residual, which all must know", () => {
    const { messages, bytes, rounds } = methods.consensus(datasets, network, { ...options, init: "local", settle: 0 });
    expect(rounds).toBe(5);
    const wire = counted((own) => {
      times(1 + rounds, () => tellCentroids(own));
      times(rounds, () => addUp(own, network, 1));
    });
    expect({ messages, bytes }).toEqual(wire);
  });
});
