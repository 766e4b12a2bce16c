// Devices of this machine by their folders: their clusters as a model, and for the dashboard their snapshots as texts and the page's
// actions on them.

import { deviceView, folderModel, performAction, snapshotFolders, snapshotReader } from "@fedkm/device/daemon";
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

/** The clusters that a device has now. */
export async function modelOfFolder(state: string): Promise<Model> {
  return { format: MODEL_FORMAT, version: MODEL_VERSIONS[0], ...(await folderModel(state, process.env)) };
}
