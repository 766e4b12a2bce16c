// Devices in groups whose clusters are not each other's: who belongs together, and how many clusters each group has.

import type { Matrix } from "../data/matrix.ts";
import { componentsOf, type Graph, subgraph } from "../graph/graph.ts";
import { addTraffic, type Traffic } from "../graph/traffic.ts";
import { type ChooseKOptions, chooseKOn, type KChoice } from "./k.ts";
import { chooseLinksOn } from "./links.ts";

/** Devices that belong together, and how many clusters they have. */
export interface DeviceGroup {
  readonly devices: readonly number[];
  readonly k: number;
}

interface FoundGroups {
  readonly groups: readonly DeviceGroup[];
  /** Links whose ends have the same clusters, where each device has k of them. */
  readonly graph: Graph;
  readonly k: number;
}

export interface GroupChoice extends Traffic {
  /** Absent where all devices belong together. */
  readonly found?: FoundGroups;
}

/** Groups may have so many clusters in all, of those that were found together: a few of different groups may lie on each other. */
const IN_ALL = 1.25;

/**
 * Links between strangers are known for a given k, and k for given groups, so the two are tried in turn. Groups differ where
 * the k clusters of all cannot serve all of them, or where fewer serve each group alone and these are hardly more in all:
 * devices that hold different parts of the same clusters would need more.
 */
export function chooseGroups(
  datasets: readonly Matrix[],
  graph: Graph,
  { fitted: all, leftOut }: KChoice,
  options: Omit<ChooseKOptions, "sample">,
): GroupChoice {
  const traffic: Traffic[] = [];
  const { minimum, restarts, seed, kernel } = options;
  const linksAt = (k: number) => {
    const chosen = chooseLinksOn(datasets, graph, { k, minimum, restarts, seed, kernel });
    traffic.push(chosen);
    return chosen.graph;
  };
  const groupsAt = (k: number): FoundGroups | undefined => {
    const links = linksAt(k);
    const members = componentsOf(links).filter(([first]) => !leftOut.includes(first));
    // Nobody to cooperate with is no group: alpha will say that each is alone.
    if (members.length < 2 || (k === all && members.every(({ length }) => length === 1))) return undefined;
    const groups = members.map((devices) => {
      const own = devices.map((i) => datasets[i]);
      // Devices with few rows alone have no clusters to show.
      if (own.every(({ rows }) => rows < (minimum ?? 1))) return { devices, k: 1 };
      const choice = chooseKOn(own, subgraph(links, devices), options);
      traffic.push(choice);
      return { devices, k: choice.k };
    });
    return { groups, graph: links, k };
  };
  const mostOf = ({ groups }: FoundGroups) => groups.reduce((most, own) => Math.max(most, own.k), 0);
  const together = all > 1 ? groupsAt(all) : undefined;
  if (together !== undefined && mostOf(together) > 1) {
    const k = mostOf(together);
    return { found: k === all ? together : { ...together, graph: linksAt(k), k }, ...addTraffic(...traffic) };
  }
  for (let k = Math.min(all - 1, Math.floor((IN_ALL * all) / 2)); k > 1; k--) {
    const found = groupsAt(k);
    if (found?.groups.some((own) => own.k === k) && k * found.groups.length <= IN_ALL * all) {
      return { found, ...addTraffic(...traffic) };
    }
  }
  return addTraffic(...traffic);
}
