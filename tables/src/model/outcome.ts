// A fitted result in memory: the model that is written, and the rows and labels behind it.

import type { Graph, Matrix } from "@fedkm/core";
import type { ClusterSums } from "./clusterSums.ts";
import type { Model } from "./model.ts";

export interface Fitted {
  readonly model: Model & Required<Pick<Model, "clusters">>;
  /** Of each device, on the model's scale. */
  readonly datasets: readonly Matrix[];
  readonly labels: readonly Uint32Array[];
  /** Of the rows in each cluster, device by device. */
  readonly sums: ClusterSums;
  readonly graph: Graph;
  /** Whether cluster c means the same on every device. */
  readonly numbersAgree: boolean;
  readonly warnings: readonly string[];
  readonly milliseconds: { readonly read: number; readonly fit: number };
}
