// Methods of a comparison that the playground can show: the same data, network, start and rounds, so the same centroids.

import type { MethodOutcome, OptionsByMethod } from "@fedkm/experiments";
import { playgroundState, type Setup, unreadSettings } from "@fedkm/web";
import type { CompareOptions } from "./data.ts";

export interface WatchedPair {
  readonly methods: readonly string[];
  /** To be pasted. */
  readonly command: string;
}

/** Those that go on in rounds, and k-means alone beside them. What is pooled is what the page measures all by. */
const shown = ["fedkm", "consensus", "distributed", "local"] as const;

/** The first of them, with each of the others beside it. */
export function watchable(
  options: CompareOptions,
  k: number,
  settings: OptionsByMethod,
  outcomes: readonly MethodOutcome[],
): WatchedPair[] {
  const problem = setupOf(options, k);
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
    if (unreadSettings(state).length > 0) return [];
    return [{ methods: Object.values(pair), command: `fedkm playground '${state}'` }];
  });
}

/** Undefined: the playground has no such data or network. */
function setupOf(options: CompareOptions, k: number): Partial<Setup> | undefined {
  const { dataset, split = "even", devices, points, alpha, seed, init } = options;
  const data = (["iso", "var", "aniso"] as const).find((name) => name === dataset);
  const network = networkOf(options.graph, devices);
  const isOwn = options.files.length > 0 || options.plugin !== undefined;
  if (isOwn || data === undefined || split !== "even" || network === undefined) return undefined;
  return { data, devices, points, ...network, k, alpha, seed, start: init };
}

function networkOf(spec: string, devices: number): Partial<Setup> | undefined {
  if (spec.startsWith("er:")) return { graph: "er", density: Number(spec.slice("er:".length)) };
  // Two devices on a ring are linked once.
  if (spec === "ring" && devices < 3) return { graph: "complete" };
  const graph = (["complete", "ring", "path", "star"] as const).find((name) => name === spec);
  return graph && { graph };
}
