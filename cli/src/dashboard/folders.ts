// Devices on this machine as a dashboard's source: it reads and changes their folders, as commands do.

import { statSync } from "node:fs";
import { basename, join } from "node:path";
import { AUDIT_FILE, type DaemonStatus, isLocked, readAudit, readFolder } from "@fedkm/device/daemon";
import { printable } from "@fedkm/device/printable";
import type { DeviceView, Snapshot } from "@fedkm/web";
import { auditFacts } from "../devices/audit.ts";
import { modelOfFolder } from "../devices/model.ts";
import { clusterNames } from "../devices/names.ts";
import { statusReader } from "../devices/state.ts";
import { carryOut } from "./actions.ts";
import { profileReader } from "./profiles.ts";
import type { Source } from "./server.ts";
import { viewOf } from "./view.ts";

/** Of objective and move, so many points are kept for the curves. */
const MOST_HISTORY = 600;
/** Of the audit log, so many lines are shown. */
const MOST_LINES = 50;

type History = DeviceView["history"];

/** `folders` are those of devices, each with a name of its own. */
export function folderSource(folders: readonly string[]): Source {
  const known = new Map(folders.map((folder) => [printable(basename(folder)), folder]));
  const read = statusReader();
  const log = logReader();
  const profilesOf = profileReader();
  const histories = new Map<string, History>();
  const studies = new Map<string, DeviceView["study"]>();
  return {
    async snapshot() {
      const devices: DeviceView[] = [];
      for (const [id, folder] of known) {
        const status = read(folder);
        if (status === undefined) continue;
        const history = withStatus(histories.get(id) ?? [], status);
        histories.set(id, history);
        const study = studies.get(status.studyHash) ?? (await studyOf(folder, status.studyHash));
        studies.set(status.studyHash, study);
        const isRunning = await isLocked(folder);
        const scales = study.features.map(({ scale }) => scale);
        const names = clusterNames(folder, status.device.centroids ?? [], scales);
        const profiles = profilesOf(folder, status);
        devices.push(viewOf(status, { id, isRunning, study, names, profiles, history, log: await log(folder) }));
      }
      // Some of the words come from other devices: what could turn the writing direction is shown as a number.
      const clean = (_: string, value: unknown) => (typeof value === "string" ? printable(value) : value);
      return JSON.stringify({ devices } satisfies Snapshot, clean);
    },
    act: (request) => carryOut(request, known),
    async exported(id) {
      const folder = known.get(id);
      const model = folder === undefined ? undefined : await modelOfFolder(folder).catch(() => undefined);
      return model && { name: `${id}.json`, text: `${JSON.stringify(model, undefined, 2)}\n` };
    },
  };
}

function withStatus(history: History, { writtenAt, device }: DaemonStatus): History {
  const at = Date.parse(writtenAt);
  const { objective, move } = device;
  if (objective === null || move === null || history.at(-1)?.at === at) return history;
  return [...history.slice(-MOST_HISTORY + 1), { at, objective, move }];
}

async function studyOf(folder: string, hash: string): Promise<DeviceView["study"]> {
  const { study } = await readFolder(folder);
  const { name, k, alpha, features } = study;
  const shown = features.map((feature) => ({ name: feature.name, unit: feature.unit, scale: feature.scale }));
  return { name, hash, k, alpha, features: shown };
}

/** Reads a log again when its file has changed. */
function logReader(): (folder: string) => Promise<DeviceView["log"]> {
  const known = new Map<string, { readonly look: string; readonly log: DeviceView["log"] }>();
  return async (folder) => {
    const file = statSync(join(folder, AUDIT_FILE), { throwIfNoEntry: false });
    const look = `${file?.mtimeMs} ${file?.size}`;
    const last = known.get(folder);
    if (last?.look === look) return last.log;
    const { lines } = await readAudit(folder);
    const latest = lines.slice(-MOST_LINES).reverse();
    const log = latest.map((line) => ({ at: line.at, text: [line.event, ...auditFacts(line)].join(", ") }));
    known.set(folder, { look, log });
    return log;
  };
}
