// A fitted result in memory: the model that is written, and the rows and labels behind it.

import type { Graph, Matrix } from "@fedkm/core";
import type { Model } from "./model.ts";

export interface Fitted {
  readonly model: Model;
  /** Of each device, on the model's scale. */
  readonly datasets: readonly Matrix[];
  readonly labels: readonly Uint32Array[];
  readonly graph: Graph;
  readonly warnings: readonly string[];
  readonly milliseconds: { readonly read: number; readonly fit: number };
}
