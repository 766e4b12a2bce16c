// The outcome of a fit: the model that is written, the rows and labels behind it, and what is to be said about it.

import type { Graph, Matrix } from "@fedkm/core";
import type { ClusterSums } from "./clusterSums.ts";
import type { FittedModel } from "./model.ts";

export interface FittedRows {
  readonly model: FittedModel;
  /** Of each device, on the model's scale. */
  readonly datasets: readonly Matrix[];
  readonly labels: readonly Uint32Array[];
  /** Of the rows in each cluster, device by device. */
  readonly sums: ClusterSums;
  readonly graph: Graph;
  /** Whether cluster c means the same on every device. */
  readonly numbersAgree: boolean;
  readonly warnings: readonly string[];
}
