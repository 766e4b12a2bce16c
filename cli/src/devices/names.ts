// The names that a device's owner has given to its clusters. They stay in its folder, and a name follows its cluster: it
// is kept with the place that the cluster had, and belongs to whichever is nearest to that place now.

import { readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

const FILE = "names.json";
export const LONGEST_NAME = 60;

interface Named {
  readonly name: string;
  /** In the features' units. */
  readonly place: readonly number[];
}

type Places = readonly (readonly number[])[];

/** One for each cluster; null: it has none. `scales`: so many of a feature's units count as 1. */
export function clusterNames(folder: string, clusters: Places, scales: readonly number[]): (string | null)[] {
  return assigned(readNamed(folder), clusters, scales).map((named) => named?.name ?? null);
}

/** An empty name takes it away. */
export async function nameCluster(
  folder: string,
  clusters: Places,
  scales: readonly number[],
  cluster: number,
  name: string,
): Promise<void> {
  const now = assigned(readNamed(folder), clusters, scales).map((named, c) =>
    c === cluster ? undefined : named?.name,
  );
  now[cluster] = name === "" ? undefined : name;
  const named = now.flatMap((own, c) => (own === undefined ? [] : [{ name: own, place: clusters[c] }]));
  const file = join(folder, FILE);
  await writeFile(`${file}.new`, `${JSON.stringify(named, undefined, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

function readNamed(folder: string): readonly Named[] {
  try {
    const read: unknown = JSON.parse(readFileSync(join(folder, FILE), "utf8"));
    return Array.isArray(read) ? read.filter(isNamed) : [];
  } catch {
    return [];
  }
}

function isNamed(value: unknown): value is Named {
  const { name, place } = (value ?? {}) as Partial<Named>;
  return typeof name === "string" && Array.isArray(place) && place.every((own) => typeof own === "number");
}

/** The nearest pairs first, each name and each cluster once. */
function assigned(
  names: readonly Named[],
  clusters: Places,
  scales: readonly number[],
): readonly (Named | undefined)[] {
  const distance = (a: readonly number[], b: readonly number[]) =>
    scales.reduce((sum, scale, f) => sum + ((a[f] - b[f]) / scale) ** 2, 0);
  const pairs = names
    .filter(({ place }) => place.length === scales.length)
    .flatMap((named) => clusters.map((own, c) => ({ named, c, away: distance(named.place, own) })))
    .sort((a, b) => a.away - b.away);
  const found: (Named | undefined)[] = clusters.map(() => undefined);
  for (const { named, c } of pairs) {
    if (found[c] === undefined && !found.includes(named)) found[c] = named;
  }
  return found;
}
