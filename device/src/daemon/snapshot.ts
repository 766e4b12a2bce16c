// Devices of this machine for a page that shows them: what their folders and their processes say now.

import { basename } from "node:path";
import { type Matrix, matrix, predict } from "@fedkm/core";
import { printable } from "@fedkm/files/printable";
import { isAddress } from "@fedkm/sql/address";
import { AUDIT_FILE, type AuditLine, readAudit } from "../disk/auditLog.ts";
import type { LockAnswer } from "../disk/folderLock.ts";
import type { Study } from "../study/study.ts";
import { scaleRows } from "../study/units.ts";
import { clusterNames } from "./clusterNames.ts";
import { evidenceReader } from "./evidence.ts";
import { readFolder } from "./folder.ts";
import { type Health, healthOf } from "./health.ts";
import { readFolderRows } from "./rowSource.ts";
import type { DaemonStatus } from "./status.ts";
import { statusReader, whenChanged } from "./statusFile.ts";

export interface DeviceSnapshot {
  /** The name of its folder. */
  readonly id: string;
  readonly status: DaemonStatus;
  /** What its lock said last; null: it has not been asked for long enough. */
  readonly lock: LockAnswer | null;
  readonly study: Pick<Study, "name" | "k" | "alpha" | "features">;
  /** What the owner calls each of its clusters; null: nothing. */
  readonly names: readonly (string | null)[];
  /** What the device's own rows in each cluster are like; null: not known yet, or too many rows to read them again. */
  readonly profiles:
    | readonly {
        readonly rows: number;
        /** In the feature's unit, and how far the mean is from that of all own rows, in their standard deviations. */
        readonly features: readonly { readonly mean: number; readonly spread: number; readonly difference: number }[];
      }[]
    | null;
  /** The latest lines of the audit log, the newest first. */
  readonly log: readonly AuditLine[];
}

type RowProfile = NonNullable<DeviceSnapshot["profiles"]>[number];

/** Of the audit log, so many lines are shown. */
const MOST_LINES = 50;
/** Profiles of more rows would keep the device's own process from its work. */
const MOST_ROWS = 200_000;
/** Rows are read again at most so often. */
const LEAST_MILLISECONDS = 5_000;

/** Device folders by the names under which a page shows them. */
export function snapshotFolders(folders: readonly string[]): ReadonlyMap<string, string> {
  return new Map(folders.map((folder) => [printable(basename(folder)), folder]));
}

/** Devices that are shown together: how they are, and each of those that have ever run. */
export interface Snapshot {
  readonly health: Health;
  readonly devices: readonly DeviceSnapshot[];
}

/** Reads the devices as they are at each call. `supervision`: what the program that runs them does about their end. */
export function snapshotReader(
  folders: ReadonlyMap<string, string>,
  supervision: (folder: string) => string | undefined = () => undefined,
): () => Promise<Snapshot> {
  const readStatus = statusReader();
  const evidenceOf = evidenceReader();
  const profilesOf = profileReader();
  const readLog = whenChanged(AUDIT_FILE, async (folder) =>
    (await readAudit(folder)).lines.slice(-MOST_LINES).reverse(),
  );
  const studies = new Map<string, Study>();
  return async () => {
    const devices: DeviceSnapshot[] = [];
    const all = [...folders].map(([id, folder]) => {
      return { ...evidenceOf(id, folder, readStatus(folder)), supervision: supervision(folder) };
    });
    for (const { id, folder, status, lock = null } of all) {
      if (status === undefined) continue;
      const study = studies.get(status.studyHash) ?? (await readFolder(folder)).study;
      studies.set(status.studyHash, study);
      const scales = study.features.map(({ scale }) => scale);
      devices.push({
        id,
        status,
        lock,
        study,
        names: clusterNames(folder, status.device.centroids ?? [], scales),
        profiles: profilesOf(folder, status),
        log: await readLog(folder),
      });
    }
    return { health: healthOf(all, Date.now()), devices };
  };
}

interface CachedProfiles {
  /** The rows and clusters that they were computed from. */
  of: string;
  at: number;
  profiles: DeviceSnapshot["profiles"];
  isReading: boolean;
}

/** Answers at once with what is known, and reads rows anew behind it when they or the clusters have changed. */
function profileReader(): (folder: string, status: DaemonStatus) => DeviceSnapshot["profiles"] {
  const cache = new Map<string, CachedProfiles>();
  return (folder, { dataReadAt, device }) => {
    const { centroids, rows } = device;
    if (centroids === null || rows > MOST_ROWS) return null;
    const last = cache.get(folder) ?? { of: "", at: Number.NEGATIVE_INFINITY, profiles: null, isReading: false };
    cache.set(folder, last);
    const of = `${dataReadAt} ${JSON.stringify(centroids)}`;
    if (of !== last.of && !last.isReading && performance.now() - last.at > LEAST_MILLISECONDS) {
      last.isReading = true;
      void readProfiles(folder, centroids)
        // Rows that cannot be read are the device's to report.
        .catch(() => null)
        .then((profiles) => Object.assign(last, { of, at: performance.now(), profiles, isReading: false }));
    }
    return last.profiles?.length === centroids.length ? last.profiles : null;
  };
}

/** Of the rows within the study's bounds, each in its nearest cluster. */
async function readProfiles(path: string, centroids: readonly (readonly number[])[]): Promise<RowProfile[] | null> {
  const folder = await readFolder(path);
  const { features } = folder.study;
  // A page that is open must not read a table again and again.
  if (folder.data.some(isAddress)) return null;
  const rows = scaleRows(folder.study, await readFolderRows(folder, {}));
  const labels = predict(matrix(centroids.map((row) => row.map((value, f) => value / features[f].scale))), rows);
  const all = summary(rows, () => true);
  return centroids.map((_, c) => {
    const own = summary(rows, (r) => labels[r] === c);
    return {
      rows: own.rows,
      features: features.map(({ scale }, f) => ({
        mean: own.means[f] * scale,
        spread: own.spreads[f] * scale,
        difference: all.spreads[f] > 0 ? (own.means[f] - all.means[f]) / all.spreads[f] : 0,
      })),
    };
  });
}

/** Means and standard deviations of some rows, in two passes: large values far from zero keep their spread. */
function summary({ data, rows, cols }: Matrix, isIn: (row: number) => boolean) {
  const chosen = Array.from({ length: rows }, (_, r) => r).filter(isIn);
  const mean = (of: (row: number) => number) => chosen.reduce((sum, r) => sum + of(r), 0) / Math.max(1, chosen.length);
  const columns = Array.from({ length: cols }, (_, f) => f);
  const means = columns.map((f) => mean((r) => data[r * cols + f]));
  const spreads = columns.map((f) => Math.sqrt(mean((r) => (data[r * cols + f] - means[f]) ** 2)));
  return { rows: chosen.length, means, spreads };
}
