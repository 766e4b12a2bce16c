// The names that a device's owner has given to its clusters. They stay in its folder, and a name follows its cluster: it
// is saved with the centroid that the cluster had, and belongs to whichever is nearest to that centroid now.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { durableWriteJson } from "../disk/disk.ts";

const FILE = "names.json";
/** Characters that the name of a cluster may have. */
export const LONGEST_NAME = 60;

interface NamedCluster {
  readonly name: string;
  /** The centroid, in the features' units. */
  readonly place: readonly number[];
}

type Centroids = readonly (readonly number[])[];

/** One for each cluster; null: it has none. `scales`: so many of a feature's units count as 1. */
export function clusterNames(folder: string, clusters: Centroids, scales: readonly number[]): (string | null)[] {
  return nearestNames(readNames(folder), clusters, scales).map((named) => named?.name ?? null);
}

/** An empty name takes it away. */
export async function nameCluster(
  folder: string,
  clusters: Centroids,
  scales: readonly number[],
  cluster: number,
  name: string,
): Promise<void> {
  const names = clusterNames(folder, clusters, scales);
  names[cluster] = name === "" ? null : name;
  const named = names.flatMap((own, c) => (own === null ? [] : [{ name: own, place: clusters[c] }]));
  await durableWriteJson(join(folder, FILE), named);
}

function readNames(folder: string): readonly NamedCluster[] {
  try {
    const read: unknown = JSON.parse(readFileSync(join(folder, FILE), "utf8"));
    return Array.isArray(read) ? read.filter(isNamed) : [];
  } catch {
    return [];
  }
}

function isNamed(value: unknown): value is NamedCluster {
  const { name, place } = (value ?? {}) as Partial<NamedCluster>;
  return typeof name === "string" && Array.isArray(place) && place.every((own) => typeof own === "number");
}

/** The nearest pairs first, each name and each cluster once. */
function nearestNames(
  names: readonly NamedCluster[],
  clusters: Centroids,
  scales: readonly number[],
): readonly (NamedCluster | undefined)[] {
  const distance = (a: readonly number[], b: readonly number[]) =>
    scales.reduce((sum, scale, f) => sum + ((a[f] - b[f]) / scale) ** 2, 0);
  const pairs = names
    .filter(({ place }) => place.length === scales.length)
    .flatMap((named) => clusters.map((own, c) => ({ named, c, away: distance(named.place, own) })))
    .sort((a, b) => a.away - b.away);
  const assigned: (NamedCluster | undefined)[] = clusters.map(() => undefined);
  for (const { named, c } of pairs) {
    if (assigned[c] === undefined && !assigned.includes(named)) assigned[c] = named;
  }
  return assigned;
}
