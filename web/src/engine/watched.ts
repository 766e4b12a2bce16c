// Which runs of a comparison or a study the playground can show, and the commands for that.

import { playgroundState, type Setup, unreadSetupSettings } from "./setup.ts";

/** What the first run of a comparison was made of. */
interface ComparedRun {
  /** Of the user; where there are any, nothing can be shown. */
  readonly files: readonly string[];
  readonly plugin?: readonly string[];
  readonly dataset: string;
  readonly split?: string;
  readonly devices: number;
  readonly typicalRows: number;
  readonly alpha: number;
  readonly seed: number;
  readonly init: Setup["start"];
  readonly graph: string;
}

interface WatchedPair {
  readonly methods: readonly string[];
  /** To be pasted. */
  readonly command: string;
}

/** Those that go on in rounds, and k-means alone beside them. What is pooled is what the page measures all by. */
const shown = ["fedkm", "consensus", "distributed", "local"] as const;

/** The first of them, with each of the others beside it. */
export function watchCompared(
  options: ComparedRun,
  k: number,
  settings: Readonly<Record<string, unknown>>,
  outcomes: readonly { readonly method: string }[],
): WatchedPair[] {
  const problem = comparedSetup(options, k);
  const [method, ...others] = shown.filter(
    (name) =>
      outcomes.some((own) => own.method === name) &&
      settings[name] === undefined &&
      // On the page k-means alone has no common start.
      (name !== "local" || options.init !== "federated"),
  );
  if (problem === undefined || method === undefined) return [];
  const pairs = others.length === 0 ? [{ method }] : others.map((versus) => ({ method, versus }));
  return pairs.flatMap((pair) => {
    const state = playgroundState({ ...problem, ...pair });
    // More devices, points or clusters than the page takes are left out of it, and it would show something else.
    if (unreadSetupSettings(state).length > 0) return [];
    return [{ methods: Object.values(pair), command: `fedkm playground '${state}'` }];
  });
}

/** Undefined: the playground has no such data or network. */
function comparedSetup(options: ComparedRun, k: number): Partial<Setup> | undefined {
  const { dataset, split = "even", devices, typicalRows, alpha, seed, init } = options;
  const data = (["iso", "var", "aniso"] as const).find((name) => name === dataset);
  const network = networkOf(options.graph, devices);
  const isOwn = options.files.length > 0 || options.plugin !== undefined;
  if (isOwn || data === undefined || split !== "even" || network === undefined) return undefined;
  return { data, devices, points: typicalRows, ...network, k, alpha, seed, start: init };
}

function networkOf(spec: string, devices: number): Partial<Setup> | undefined {
  if (spec.startsWith("er:")) return { graph: "er", density: Number(spec.slice("er:".length)) };
  // Two devices on a ring are linked once.
  if (spec === "ring" && devices < 3) return { graph: "complete" };
  const graph = (["complete", "ring", "path", "star"] as const).find((name) => name === spec);
  return graph && { graph };
}

/** A row of a study's runs, by the names of its columns. */
type StudyRun = Readonly<Record<string, string | number | boolean | null>>;

/**
 * Runs that the playground can show, with the same data, network, start and updates, so the same centroids. One run of each data set and start: that whose alpha is nearest to 1, then with the most points.
 */
export function watchReproduced(runs: readonly StudyRun[]) {
  const found = new Map<string, StudyRun>();
  for (const row of runs) {
    if (repeatedSetup(row) === undefined) continue;
    const key = `${row.dataset} ${row.start}`;
    const known = found.get(key);
    if (known === undefined || isBetter(row, known)) found.set(key, row);
  }
  return [...found.values()].map((row) => ({
    dataset: String(row.dataset),
    start: String(row.start),
    shows: `run ${row.run}, alpha ${row.alpha}, ${row.points_per_device} points each, links with probability ${row.edge_probability}`,
    command: `fedkm playground '${playgroundState(repeatedSetup(row) as Partial<Setup>)}'`,
  }));
}

function isBetter(row: StudyRun, known: StudyRun): boolean {
  const fromOne = ({ alpha }: StudyRun) => Math.abs(Math.log(Number(alpha)));
  if (fromOne(row) !== fromOne(known)) return fromOne(row) < fromOne(known);
  return Number(row.points_per_device) > Number(known.points_per_device);
}

/** Undefined: the playground has no such data, network, method or updates. */
function repeatedSetup(row: StudyRun): Partial<Setup> | undefined {
  const data = (["iso", "var", "aniso"] as const).find((name) => name === row.dataset);
  const start = (["local", "kmeans++", "auto"] as const).find((name) => name === row.start);
  const isKnown = row.method === "fedkm" && row.settings === null && row.network === "er" && row.split === null;
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
