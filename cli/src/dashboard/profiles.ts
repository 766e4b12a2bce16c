// What a device's own rows in each of its clusters are like, in the user's units. It is computed for its owner's page.

import { type Matrix, matrix, predict } from "@fedkm/core";
import { scaleRows } from "@fedkm/device";
import { type DaemonStatus, readFolder, readRows } from "@fedkm/device/daemon";
import { isAddress } from "@fedkm/sql/address";
import type { ClusterProfile, DeviceView } from "@fedkm/web";

/** More would keep the device's own process from its work. */
const MOST_ROWS = 200_000;
/** Rows are read again at most so often. */
const LEAST_MILLISECONDS = 5_000;

type Profiles = DeviceView["profiles"];

interface Kept {
  of: string;
  at: number;
  profiles: Profiles;
  isReading: boolean;
}

/** Answers at once with what is known, and reads rows anew behind it when they or the clusters have changed. */
export function profileReader(): (folder: string, status: DaemonStatus) => Profiles {
  const known = new Map<string, Kept>();
  return (folder, { dataReadAt, device }) => {
    const { centroids, rows } = device;
    if (centroids === null || rows > MOST_ROWS) return null;
    const kept = known.get(folder) ?? { of: "", at: Number.NEGATIVE_INFINITY, profiles: null, isReading: false };
    known.set(folder, kept);
    const of = `${dataReadAt} ${JSON.stringify(centroids)}`;
    if (of !== kept.of && !kept.isReading && performance.now() - kept.at > LEAST_MILLISECONDS) {
      kept.isReading = true;
      void profilesOf(folder, centroids)
        // Rows that cannot be read are the device's to report.
        .catch(() => null)
        .then((profiles) => Object.assign(kept, { of, at: performance.now(), profiles, isReading: false }));
    }
    return kept.profiles?.length === centroids.length ? kept.profiles : null;
  };
}

/** Of the rows within the study's bounds, each in its nearest cluster. */
async function profilesOf(path: string, centroids: readonly (readonly number[])[]): Promise<ClusterProfile[] | null> {
  const folder = await readFolder(path);
  const { features } = folder.study;
  // A page that is open must not read a table again and again.
  if (folder.data.some(isAddress)) return null;
  const rows = scaleRows(folder.study, await readRows(folder, process.env));
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

interface Summary {
  readonly rows: number;
  readonly means: number[];
  /** Standard deviations. */
  readonly spreads: number[];
}

/** Around the mean, in two passes: large values far from zero keep their spread. */
function summary({ data, rows, cols }: Matrix, isIn: (row: number) => boolean): Summary {
  const chosen = Array.from({ length: rows }, (_, r) => r).filter(isIn);
  const mean = (of: (row: number) => number) => chosen.reduce((sum, r) => sum + of(r), 0) / Math.max(1, chosen.length);
  const columns = Array.from({ length: cols }, (_, f) => f);
  const means = columns.map((f) => mean((r) => data[r * cols + f]));
  const spreads = columns.map((f) => Math.sqrt(mean((r) => (data[r * cols + f] - means[f]) ** 2)));
  return { rows: chosen.length, means, spreads };
}
