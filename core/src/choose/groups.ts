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
  /** Whether there are clusters that serve all devices: each of them has all, or some of them. */
  readonly isShared: boolean;
}

/** Groups may have so many clusters in all, of those that were found together: a few of different groups may lie on each other. */
const IN_ALL = 1.25;

/**
 * Links between strangers are known for a given k, and k for given groups, so the two are tried in turn. Groups differ where
 * the k clusters of all cannot serve all of them, where one more serves several groups alone, or where fewer do and these are
 * hardly more in all: devices that hold different parts of the same clusters would need more.
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
  const membersOf = (links: Graph) => componentsOf(links).filter(([first]) => !leftOut.includes(first));
  const groupsAt = (k: number, links = linksAt(k)): FoundGroups | undefined => {
    const members = membersOf(links);
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
  if (all === 1) return { isShared: false, ...addTraffic() };
  const links = linksAt(all);
  const together = groupsAt(all, links);
  if (together !== undefined && mostOf(together) > 1) {
    const k = mostOf(together);
    const found = k === all ? together : { ...together, graph: linksAt(k), k };
    return { found, isShared: false, ...addTraffic(...traffic) };
  }
  // Rows of strangers hide each other's gaps: then several groups alone have more clusters than all together.
  const beyond = groupsAt(all + 1);
  if (beyond !== undefined && beyond.groups.filter(({ k }) => k === all + 1).length > 1) {
    return { found: beyond, isShared: false, ...addTraffic(...traffic) };
  }
  for (let k = Math.min(all - 1, Math.floor((IN_ALL * all) / 2)); k > 1; k--) {
    const found = groupsAt(k);
    if (found?.groups.some((own) => own.k === k) && k * found.groups.length <= IN_ALL * all) {
      return { found, isShared: false, ...addTraffic(...traffic) };
    }
  }
  return { isShared: membersOf(links).length === 1, ...addTraffic(...traffic) };
}
