// fedkm device export: the clusters a device has now, as a model file.

import { readFolder } from "@fedkm/device/daemon";
import type { Console } from "../console.ts";
import { writeWhole } from "../write.ts";
import { lastStatus } from "./state.ts";

export async function exportModel({ state, out }: { state: string; out: string }, { stdout }: Console): Promise<void> {
  const { study, name } = await readFolder(state);
  const centroids = lastStatus(state)?.device.centroids;
  if (centroids == null) throw new Error(`${state} must be the folder of a device that has clusters, got none yet`);
  const { k, alpha, coupling, weighting, features } = study;
  const model = {
    format: "fedkm-model",
    version: 1,
    columns: features.map((feature) => feature.name),
    scaling: features.map(({ scale }) => ({ offset: 0, scale })),
    options: { k, alpha, coupling, weighting },
    devices: [{ name, centroids }],
  };
  writeWhole(out, `${JSON.stringify(model, undefined, 2)}\n`);
  stdout.write(`wrote ${out}: ${centroids.length} clusters of ${name}\n`);
}
