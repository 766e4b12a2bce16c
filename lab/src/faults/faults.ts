// npm run lab -- faults [PART...] [--short]: what devices do when things go wrong. Exit 1 if a bar is missed.

import { sectionOf } from "../parts.ts";

// Each is loaded when it runs: a simulation needs no libp2p.
export const run = sectionOf({
  async simulated(isShort) {
    const { faultsInSimulation, staggeredStarts } = await import("./simulated.ts");
    const held = [
      await faultsInSimulation({ seeds: isShort ? [1] : [1, 2, 3, 4, 5] }),
      await staggeredStarts({ networks: isShort ? 6 : 250 }),
    ];
    return held.every((is) => is);
  },
  async ghosts(isShort) {
    const { ghosts } = await import("./ghosts.ts");
    const { ghostsAsProcesses } = await import("./ghosts.ts");
    const held = [
      await ghosts({ first: 1, last: isShort ? 15 : 1_000 }),
      await ghostsAsProcesses({ seeds: isShort ? [1] : [1, 2, 3, 4, 5] }),
    ];
    return held.every((is) => is);
  },
  change: async (isShort) => (await import("./change.ts")).changes({ first: 1, last: isShort ? 9 : 90 }),
  months: async (isShort) => (await import("./months.ts")).months({ days: isShort ? 12 : 730 }),
  scale: async (isShort) =>
    (await import("./simulated.ts")).manySimulatedDevices({ sizes: isShort ? [100] : [100, 1_000, 10_000] }),
  tcp: async (isShort) => (await import("./tcpFaults.ts")).faultsOverTcp({ seeds: isShort ? [1] : [1, 2, 3] }),
  namespaces: async (isShort) => (await import("./namespaces.ts")).partitionInNamespaces({ seconds: isShort ? 5 : 60 }),
  discovery: async () => (await import("./namespaces.ts")).discoveryInNamespaces(),
  relay: async (isShort) =>
    (await import("./relay.ts")).behindTwoRouters({ kinds: isShort ? ["iso"] : ["iso", "var", "aniso"] }),
  async links(isShort) {
    const { linksAtOnce, linksThatMove, restless } = await import("./links.ts");
    const held = [await linksAtOnce(), await linksThatMove()];
    if (!isShort) held.push(await restless({ seconds: 75 }));
    return held.every((is) => is);
  },
  clock: async () => (await import("./tcpFaults.ts")).clockSteps(),
  processes: async (isShort) => (await import("./tcpFaults.ts")).agreement({ seeds: isShort ? [1] : [1, 2, 3, 4, 5] }),
  durability: async () => (await import("./tcpFaults.ts")).durability(),
  kills: async (isShort) => (await import("./tcpFaults.ts")).kills({ times: isShort ? 6 : 200 }),
  growth: async (isShort) => (await import("./guardedGrowth.ts")).guardedFiles({ kills: isShort ? 4 : 100 }),
  logs: async () => (await import("./logs.ts")).logs(),
  identity: async (isShort) => (await import("./identity.ts")).identity({ kills: isShort ? 3 : 20 }),
  strangers: async (isShort) => (await import("./tcpAttacks.ts")).strangers({ count: isShort ? 50 : 1_000 }),
  async flood(isShort) {
    const { crowdedFlood, flood } = await import("./tcpAttacks.ts");
    const seconds = isShort ? 3 : 20;
    const held = [await flood({ seconds }), await crowdedFlood({ seconds, peers: 56 })];
    return held.every((is) => is);
  },
  malformed: async (isShort) => (await import("./tcpAttacks.ts")).malformed({ frames: isShort ? 400 : 10_000 }),
  stalled: async (isShort) => (await import("./tcpAttacks.ts")).stalled({ peers: isShort ? 4 : 16 }),
  costs: async () => (await import("./tcpCosts.ts")).deviceCosts(),
  async up(isShort) {
    const { upNetworks } = await import("./upNetwork.ts");
    if (isShort) return upNetworks([{ devices: 10, graph: "ring" }], 10);
    const large = [
      { devices: 100, graph: "ring" },
      { devices: 30, graph: "er:0.7" },
    ];
    return upNetworks(large, 60);
  },
  bytes: async () => (await import("./tcpCosts.ts")).bytesOfAChange(),
  silence: async (isShort) => (await import("./tcpCosts.ts")).silence({ seconds: isShort ? 5 : 65 }),
});
