// Devices of this machine by their folders: their clusters as a model, and for the dashboard their snapshots as texts and the page's
// actions on them.

import { matrix } from "@fedkm/core";
import { contractOf, studyId } from "@fedkm/device";
import {
  clusterNames,
  deviceView,
  lastStatus,
  performAction,
  readFolder,
  rowSourceStatistics,
  snapshotFolders,
  snapshotReader,
} from "@fedkm/device/daemon";
import { printable } from "@fedkm/files/printable";
import { MODEL_FORMAT, MODEL_VERSIONS, type Model } from "@fedkm/tables";
import type { DeviceView, HealthView } from "@fedkm/web";
import type { DashboardSource } from "@fedkm/web/server";

/** `folders` are those of devices, each with a name of its own; `supervision` as `snapshotReader` takes it. */
export function dashboardSource(
  folders: readonly string[],
  supervision?: (folder: string) => string | undefined,
): DashboardSource {
  const known = snapshotFolders(folders);
  const read = snapshotReader(known, supervision);
  // Some of the words come from other devices: what could turn the writing direction is shown as a number.
  const clean = (value: unknown) =>
    JSON.stringify(value, (_, inner) => (typeof inner === "string" ? printable(inner) : inner));
  return {
    async snapshot() {
      const { health, devices } = await read();
      const views = devices.map((device): [string, string] => {
        return [device.id, clean(deviceView(device) satisfies DeviceView)];
      });
      return { health: clean(health satisfies HealthView), devices: new Map(views) };
    },
    act: (request) => performAction(request, known),
    async exported(id) {
      const folder = known.get(id);
      const model = folder === undefined ? undefined : await modelOfFolder(folder).catch(() => undefined);
      return model && { name: `${id}.json`, text: `${JSON.stringify(model, undefined, 2)}\n` };
    },
  };
}

// The clusters that a device has now, as a model.

export async function modelOfFolder(state: string): Promise<Model> {
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
  const { counts, loss } = await rowSourceStatistics(folder, scaled, process.env);
  const sizes = Array.from(counts);
  const rows = sizes.reduce((sum, size) => sum + size, 0);
  return {
    format: MODEL_FORMAT,
    version: MODEL_VERSIONS[0],
    columns: features.map((feature) => feature.name),
    scaling: { kind: scale.every((one) => one === 1) ? "none" : "bounds", offset: scale.map(() => 0), scale },
    missing: { policy: "refuse" },
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
function namedClusters(names: readonly (string | null)[], sizes: readonly number[]): Pick<Model, "clusters"> {
  if (names.every((name) => name === null)) return {};
  const unknown = { mean: null, spread: null, difference: null, farthest: null, farthestDifference: null };
  return { clusters: names.map((name, c) => ({ ...(name !== null && { name }), rows: sizes[c], ...unknown })) };
}
