// The clusters that a device has now as a model, but for the format and version of model files.

import { matrix } from "@fedkm/core";
import { contractOf } from "../study/study.ts";
import { studyId } from "../wire/frames.ts";
import { clusterNames } from "./clusterNames.ts";
import { readFolder } from "./folder.ts";
import { lastStatus } from "./lastStatus.ts";
import { rowSourceStatistics } from "./rowSource.ts";

/** `env` has the passwords of sources. */
export async function folderModel(state: string, env: Parameters<typeof rowSourceStatistics>[2]) {
  const folder = await readFolder(state);
  const status = lastStatus(state);
  const { centroids, objective } = status?.device ?? {};
  if (status === undefined || centroids == null) {
    throw new Error(`${state} must be the folder of a device that has clusters, got none yet`);
  }
  const { study, name } = folder;
  if (status.studyHash !== studyId(await contractOf(study))) {
    throw new Error(
      `the study in ${state} must be the one its clusters are of, got an edited one: run the device again, then export`,
    );
  }
  const { k, alpha, features } = study;
  const scale = features.map((feature) => feature.scale);
  const scaled = matrix(centroids.map((row) => row.map((value, column) => value / scale[column])));
  const { counts, loss } = await rowSourceStatistics(folder, scaled, env);
  const sizes = Array.from(counts);
  const rows = sizes.reduce((sum, size) => sum + size, 0);
  return {
    columns: features.map((feature) => feature.name),
    scaling: {
      kind: scale.every((one) => one === 1) ? ("none" as const) : ("bounds" as const),
      offset: scale.map(() => 0),
      scale,
    },
    missing: { policy: "refuse" as const },
    options: { k, alpha, method: "fedkm", graph: "links", seed: 0 },
    devices: [{ name, rows, sizes, centroids }],
    ...namedClusters(clusterNames(state, centroids, scale), sizes),
    // What a device knows of others stays with it.
    links: [],
    // Of shared clusters a device knows no objective but that of its own rows.
    objective: objective ?? loss / rows,
    rounds: status.device.round,
    converged: ["settled", "alone"].includes(status.device.phase),
    messages: status.device.framesSent,
    bytes: status.links.reduce((sum, { sent }) => sum + sent.bytes, 0),
    history: [],
  };
}

/** Clusters only if some have names. What else a model says of clusters are figures of rows, which stay on the device. */
function namedClusters(names: readonly (string | null)[], sizes: readonly number[]) {
  if (names.every((name) => name === null)) return {};
  const unknown = { mean: null, spread: null, difference: null, farthest: null, farthestDifference: null };
  return { clusters: names.map((name, c) => ({ ...(name !== null && { name }), rows: sizes[c], ...unknown })) };
}
