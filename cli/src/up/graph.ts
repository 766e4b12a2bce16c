// Graphs by name: who is linked to whom in a network on this machine.

import { complete, erdosRenyi, type Graph, path, randomStream, ring, star } from "@fedkm/core";
import { UsageError } from "../failure.ts";

const families: Readonly<Record<string, (size: number) => Graph>> = { complete, path, star, ring };

export function graphOf(kind: string, size: number, seed: number): Graph {
  const random = /^er:(0?\.\d+|1(\.0+)?|0)$/.exec(kind);
  if (random !== null) return erdosRenyi(size, Number(random[1]), randomStream(seed, "graph"));
  const family = Object.hasOwn(families, kind) ? families[kind] : undefined;
  if (family === undefined) {
    const known = Object.keys(families).sort().join(", ");
    throw new UsageError(`--graph must be one of ${known} or er:PROBABILITY, got "${kind}"`);
  }
  return family(size);
}
