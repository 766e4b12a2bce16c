// Runs of a study that the playground can show: the same data, network, start and updates, so the same centroids.

import type { TableRow, WatchedRun } from "@fedkm/experiments";
import { playgroundState, type Setup } from "@fedkm/web";

/** One run of each data set and start: that whose alpha is nearest to 1, then with the most points. */
export function watchable(runs: readonly TableRow[]): WatchedRun[] {
  const found = new Map<string, TableRow>();
  for (const row of runs) {
    if (setupOf(row) === undefined) continue;
    const key = `${row.dataset} ${row.start}`;
    const known = found.get(key);
    if (known === undefined || isBetter(row, known)) found.set(key, row);
  }
  return [...found.values()].map((row) => ({
    dataset: String(row.dataset),
    start: String(row.start),
    shows: `run ${row.run}, alpha ${row.alpha}, ${row.points_per_device} points each, links with probability ${row.edge_probability}`,
    command: `fedkm playground '${playgroundState(setupOf(row) as Partial<Setup>)}'`,
  }));
}

function isBetter(row: TableRow, known: TableRow): boolean {
  const fromOne = ({ alpha }: TableRow) => Math.abs(Math.log(Number(alpha)));
  if (fromOne(row) !== fromOne(known)) return fromOne(row) < fromOne(known);
  return Number(row.points_per_device) > Number(known.points_per_device);
}

/** Undefined: the playground has no such data, network, method or updates. */
function setupOf(row: TableRow): Partial<Setup> | undefined {
  const data = (["iso", "var", "aniso"] as const).find((name) => name === row.dataset);
  const start = (["local", "kmeans++", "auto"] as const).find((name) => name === row.start);
  const isPlain = row.damping === null && row.passes === null && row.tol === null && row.safeguard === 0;
  const isKnown = row.method === "fedkm" && row.schedule === "cyclic" && row.network === "random" && isPlain;
  if (data === undefined || start === undefined || !isKnown || typeof row.edge_probability !== "number")
    return undefined;
  return {
    data,
    start,
    preset: start === "auto" ? "dependable" : "paper",
    devices: Number(row.devices),
    points: Number(row.points_per_device),
    graph: "er",
    density: row.edge_probability,
    k: Number(row.k),
    alpha: Number(row.alpha),
    seed: Number(row.seed),
  };
}
