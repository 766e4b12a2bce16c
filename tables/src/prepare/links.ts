// Which devices are linked: by a rule (complete, ring, path, star, er:P, knn:K), or as a file says.

import { existsSync } from "node:fs";
import { complete, erdosRenyi, type Graph, graph, type Matrix, path, randomStream, ring, star } from "@fedkm/core";
import type { Plugins } from "@fedkm/experiments";
import { federatedMeans, readLinks } from "@fedkm/files";
import { UsageError } from "../../../cli/src/failure.ts";

/** Whether links come from a rule, and not from a file. */
export function isLinkRule(spec: string): boolean {
  return /^(complete|path|star|ring|er:.*|knn:.*)$/.test(spec);
}

/** `names` and `datasets` are those of the devices; only means of columns are looked at. */
export async function linkDevices(
  spec: string,
  names: readonly string[],
  datasets: readonly Matrix[],
  seed: number,
  plugged: Plugins["graphs"] = {},
): Promise<Graph> {
  const size = names.length;
  const [name, ...texts] = spec.split(":");
  if (Object.hasOwn(plugged, name)) return plugged[name]({ devices: size, seed, text: texts.join(":") });
  if (spec === "complete") return complete(size);
  if (spec === "path") return path(size);
  if (spec === "star") return star(size);
  // Two devices on a ring are linked once.
  if (spec === "ring") return size < 3 ? complete(size) : ring(size);
  const [, rule, text] = /^(er|knn):(.*)$/.exec(spec) ?? [];
  if (rule === "er") return erdosRenyi(size, share(text), randomStream(seed, "graph"));
  if (rule === "knn") return nearest(neighbours(text, size), datasets);
  if (!existsSync(spec)) {
    const rules = ["complete", "ring", "path", "star", "er:P", "knn:K", ...Object.keys(plugged)].join(", ");
    throw new UsageError(`--graph must be ${rules} or a file of links, got "${spec}"`);
  }
  return graph(size, await readLinks(spec, names));
}

function share(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0 && value <= 1)) {
    throw new UsageError(`--graph er:P must have a probability P from 0 to 1, got "${text}"`);
  }
  return value;
}

function neighbours(text: string, size: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value >= size) {
    throw new UsageError(
      `--graph knn:K must have a whole number K from 1 to ${size - 1} (the other devices), got "${text}"`,
    );
  }
  return value;
}

/** Each device is linked with the K whose column means are nearest to its own; a link counts for both. */
function nearest(k: number, datasets: readonly Matrix[]): Graph {
  const means = datasets.map((points) => federatedMeans([points]));
  const distance = (i: number, j: number) => means[i].reduce((sum, mean, c) => sum + (mean - means[j][c]) ** 2, 0);
  const links = new Set<string>();
  means.forEach((_, i) => {
    const others = means.map((__, j) => j).filter((j) => j !== i);
    others.sort((a, b) => distance(i, a) - distance(i, b) || a - b);
    for (const j of others.slice(0, k)) links.add(`${Math.min(i, j)} ${Math.max(i, j)}`);
  });
  return graph(
    datasets.length,
    Array.from(links, (link): [number, number] => {
      const [i, j] = link.split(" ").map(Number);
      return [i, j];
    }),
  );
}
