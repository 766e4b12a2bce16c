// Every method on one problem: how near to pooled k-means, and what it sent.

import { globalCentroidDeviation, methods } from "@fedkm/core";
import { print } from "../measure.ts";
import { setting } from "./setting.ts";

export function traffic(first: number): void {
  const { datasets, network, reference, seed } = setting("var", 100, first + 1);
  const rows = Object.entries(methods).map(([name, method]) => {
    const { centroids, rounds, messages, bytes } = method(datasets, network, { k: 3, alpha: 1, seed });
    const deviation = globalCentroidDeviation(centroids, reference);
    return [name, deviation.toExponential(1), String(rounds), String(messages), String(bytes)];
  });
  print("every method on one problem: var, m = 100, p = 0.7", [
    ["method", "GCD", "rounds", "messages", "bytes"],
    ...rows,
  ]);
}
