import {
  complete,
  consensusVariation,
  distributedRounds,
  erdosRenyi,
  fit,
  globalCentroidDeviation,
  kmeans,
  type Matrix,
  type Method,
  methods,
  paperData,
  randomStream,
  stack,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";

const { datasets } = paperData("iso", 10, 100, 1);
const network = erdosRenyi(10, 0.7, randomStream(1, "graph"));
const options = { k: 3, alpha: 1, seed: 1 };
const reference = methods.pooled(datasets, network, options).centroids[0];
const deviation = (centroids: readonly Matrix[]) => globalCentroidDeviation(centroids, reference);

describe("methods, one signature", () => {
  it("every method reports objective, history, messages and bytes of one shape", () => {
    for (const [name, method] of Object.entries(methods)) {
      const model = method(datasets, network, { ...options, rounds: 5 });
      expect(
        model.centroids.map(({ rows, cols }) => [rows, cols]),
        name,
      ).toEqual(Array(10).fill([3, 2]));
      expect(model.history.length, name).toBe(model.rounds + 1);
      const last = model.history[model.rounds];
      expect([last.objective, last.messages, last.bytes], name).toEqual([model.objective, model.messages, model.bytes]);
    }
  });

  it("fedkm is Algorithm 1, and lets the options of other methods pass", () => {
    const model = fit(datasets, network, options);
    expect(methods.fedkm(datasets, network, options)).toEqual(model);
    const together = { ...options, eta: 3, rho: 4, coresetSize: 5 };
    expect(methods.fedkm(datasets, network, together)).toEqual(model);
    expect(() => fit(datasets, network, together)).toThrow(/^unknown option "eta"/);
  });

  it("local sends nothing; pooled sends every record", () => {
    const local = methods.local(datasets, network, options);
    expect([local.messages, local.bytes]).toEqual([0, 0]);
    const pooled = methods.pooled(datasets, network, options);
    // Every link carries all records both ways; a collector hears each once and sends three centroids to ten devices.
    const links = network.neighbours.reduce((sum, { length }) => sum + length, 0);
    expect(pooled.bytes).toBe(links * 1000 * 2 * 8);
    expect(pooled.collector).toEqual({ messages: 11, bytes: (1000 * 2 + 10 * 3 * 2) * 8 });
  });

  it("local from a common start says what the start cost", () => {
    const { messages, bytes } = fit(datasets, network, { ...options, init: "federated", rounds: 0 });
    const local = methods.local(datasets, network, { ...options, init: "federated" });
    expect({ messages: local.messages, bytes: local.bytes }).toEqual({ messages, bytes });
    expect(messages).toBeGreaterThan(0);
  });

  it("every option that a method says it takes is one that it takes, in every form", () => {
    for (const [name, method] of Object.entries<Method>(methods)) {
      for (const [option, forms] of Object.entries(method.takes ?? {})) {
        for (const form of forms.filter((word) => word !== "number")) {
          const value = form === "true" || form === "false" ? form === "true" : form;
          const run = () => method(datasets, network, { ...options, rounds: 1, [option]: value });
          expect(run, `${name} ${option} ${form}`).not.toThrow();
        }
        const wrong = () => method(datasets, network, { ...options, rounds: 1, [option]: "no such thing" });
        if (!forms.includes("true")) expect(wrong, `${name} ${option}`).toThrow(option);
      }
    }
  });

  it("pooled is k-means on all points, at its exact fixed point, the same for every device", () => {
    const { centroids } = methods.pooled(datasets, network, options);
    for (const own of centroids) expect(own).toEqual(reference);
    expect(kmeans(stack(datasets), { k: 3, init: reference }).centroids).toEqual(reference);
  });

  it("fedkm is far nearer to pooled than local is, and its devices agree", () => {
    const local = methods.local(datasets, network, options).centroids;
    const fedkm = methods.fedkm(datasets, network, options).centroids;
    expect(deviation(fedkm)).toBeLessThan(deviation(local) / 100);
    expect(consensusVariation(fedkm, network)).toBeLessThan(consensusVariation(local, network) / 100);
  });
});

describe("distributed", () => {
  it("reaches pooled k-means from one shared seed, at the pace of the tuned step", () => {
    const run = (eta: number | "tuned") =>
      methods.distributed(datasets, network, { ...options, seeds: "shared", eta, rounds: 80 });
    expect(deviation(run("tuned").centroids)).toBeLessThan(1e-15);
    const model = methods.distributed(datasets, network, { ...options, seeds: "shared", eta: "tuned", rounds: 2000 });
    expect(model.converged).toBe(true);
  });

  it("aligned seeds are the own ones in one common order", () => {
    const own = methods.distributed(datasets, network, { ...options, rounds: 0 });
    const aligned = methods.distributed(datasets, network, { ...options, rounds: 0, seeds: "aligned" });
    const sorted = ({ data }: Matrix) => Array.from(data).sort();
    expect(aligned.centroids.map(sorted)).toEqual(own.centroids.map(sorted));
    expect(consensusVariation(aligned.centroids, network)).toBeCloseTo(consensusVariation(own.centroids, network), 12);
    // In order, the label-wise distance is no more than the distance of the best permutation.
    const labelwise = aligned.centroids.map((centroids) =>
      centroids.data.reduce((sum, x, i) => sum + (x - aligned.centroids[0].data[i]) ** 2, 0),
    );
    expect(Math.max(...labelwise)).toBeLessThan(5);
    const model = methods.distributed(datasets, network, { ...options, seeds: "aligned", eta: "tuned" });
    expect(deviation(model.centroids)).toBeLessThan(1e-20);
  });

  it("distributedRounds yields the rounds that distributed runs", () => {
    const rounds = [...distributedRounds(datasets, network, { ...options, rounds: 3 })];
    const model = methods.distributed(datasets, network, { ...options, rounds: 3 });
    expect(rounds.map(({ round }) => round)).toEqual([0, 1, 2, 3]);
    expect(rounds[3].centroids).toEqual(model.centroids);
  });

  it("tunes eta to the graph: mean(m) / (2 k n) on a complete one", () => {
    const { eta } = methods.distributed(datasets, complete(10), { ...options, eta: "tuned", rounds: 0 });
    expect(eta).toBeCloseTo(100 / (2 * 3 * 10), 12);
  });
});
