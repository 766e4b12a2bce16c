// Which devices are linked: by a rule (complete, ring, path, star, er:P, knn:K), by a list of links, or as the caller says; and of these only those that are alike.

import {
  chooseLinks,
  complete,
  erdosRenyi,
  type Graph,
  graph,
  type Matrix,
  path,
  randomStream,
  ring,
  star,
} from "@fedkm/core";
import { scalingMeans } from "@fedkm/files";
import { RequestError } from "../request.ts";

/** Links that come from elsewhere, such as a file or a plug-in. */
export interface NamedLinks {
  /** What a model calls them. */
  readonly name: string;
  links(names: readonly string[], seed: number): Graph | Promise<Graph>;
  /** Only those whose ends have the same clusters. Default false. */
  readonly isAlike?: boolean;
}

/** A rule, numbers of devices with the weight of their link, or links from elsewhere. */
export type LinksRequest = string | readonly (readonly [number, number, number?])[] | NamedLinks;

/** Whether links come from a rule. */
export function isLinkRule(spec: string): boolean {
  return /^(alike|(alike:)?(complete|path|star|ring|er:.*|knn:.*))$/.test(spec);
}

/** Rules of links that need no list. */
export const linkRules = ["complete", "ring", "path", "star", "er:P", "knn:K", "alike:RULE"] as const;

/** The links of which only those between devices that are alike are asked for; undefined where all are. */
export function linksAmongAlike(links: string): string | undefined {
  return links === "alike" ? "complete" : /^alike:(.*)$/.exec(links)?.[1];
}

/** What asks for those of them whose ends have the same clusters. */
export function alikeLinks(links: LinksRequest): string {
  const name = linksName(links);
  if (linksAmongAlike(name) !== undefined) return name;
  return name === "complete" ? "alike" : `alike:${name}`;
}

/** What a model calls links. */
export function linksName(links: LinksRequest): string {
  if (typeof links === "string") return links;
  return "name" in links ? links.name : "links";
}

/**
 * `names` and `datasets` are those of the devices; only means of columns are looked at. `k`: the clusters of a fit, by
 * which devices are alike.
 */
export async function linkDevices(
  links: LinksRequest,
  names: readonly string[],
  datasets: readonly Matrix[],
  { seed, k }: { readonly seed: number; readonly k?: number | undefined },
): Promise<Graph> {
  const among = typeof links === "string" ? linksAmongAlike(links) : undefined;
  const all = await linksOfRequest(among ?? links, names, datasets, seed);
  const isAlike = among !== undefined || (typeof links === "object" && "isAlike" in links && links.isAlike === true);
  if (!isAlike) return all;
  if (k === undefined)
    throw new RequestError("--graph alike must be used with --k: without it such links are found where there are any");
  return chooseLinks(datasets, all, { k, seed }).graph;
}

async function linksOfRequest(
  links: LinksRequest,
  names: readonly string[],
  datasets: readonly Matrix[],
  seed: number,
): Promise<Graph> {
  if (typeof links !== "string") return "name" in links ? links.links(names, seed) : graph(names.length, links);
  const size = names.length;
  if (links === "complete") return complete(size);
  if (links === "path") return path(size);
  if (links === "star") return star(size);
  // Two devices on a ring are linked once.
  if (links === "ring") return size < 3 ? complete(size) : ring(size);
  const [, rule, text] = /^(er|knn):(.*)$/.exec(links) ?? [];
  if (rule === "er") return erdosRenyi(size, share(text), randomStream(seed, "graph"));
  if (rule === "knn") return nearest(neighbours(text, size), datasets);
  throw new RequestError(`--graph must be ${linkRules.join(", ")} or a list of links, got "${links}"`);
}

function share(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0 && value <= 1)) {
    throw new RequestError(`--graph er:P must have a probability P from 0 to 1, got "${text}"`);
  }
  return value;
}

function neighbours(text: string, size: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value >= size) {
    throw new RequestError(
      `--graph knn:K must have a whole number K from 1 to ${size - 1} (the other devices), got "${text}"`,
    );
  }
  return value;
}

/** Each device is linked with the K whose column means are nearest to its own; a link counts for both. */
function nearest(k: number, datasets: readonly Matrix[]): Graph {
  const means = datasets.map((points) => scalingMeans([points]));
  const distance = (i: number, j: number) => means[i].reduce((sum, mean, c) => sum + (mean - means[j][c]) ** 2, 0);
  const links = new Map<string, [number, number]>();
  means.forEach((_, i) => {
    const others = means.map((__, j) => j).filter((j) => j !== i);
    others.sort((a, b) => distance(i, a) - distance(i, b) || a - b);
    for (const j of others.slice(0, k)) {
      const ends: [number, number] = [Math.min(i, j), Math.max(i, j)];
      links.set(ends.join(" "), ends);
    }
  });
  return graph(datasets.length, links.values());
}
