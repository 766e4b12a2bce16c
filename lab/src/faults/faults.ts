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
    const { ghostsAsProcesses } = await import("./ghostProcesses.ts");
    const held = [
      await ghosts({ first: 1, last: isShort ? 15 : 1_000 }),
      await ghostsAsProcesses({ seeds: isShort ? [1] : [1, 2, 3, 4, 5] }),
    ];
    return held.every((is) => is);
  },
  async change(isShort) {
    const { changes } = await import("./change.ts");
    return changes({ first: 1, last: isShort ? 9 : 90 });
  },
  async months(isShort) {
    const { months } = await import("./months.ts");
    return months({ days: isShort ? 12 : 730 });
  },
  async scale(isShort) {
    const { manySimulatedDevices } = await import("./scale.ts");
    return manySimulatedDevices({ sizes: isShort ? [100] : [100, 1_000, 10_000] });
  },
  async tcp(isShort) {
    const { faultsOverTcp } = await import("./tcpFaults.ts");
    return faultsOverTcp({ seeds: isShort ? [1] : [1, 2, 3] });
  },
  async namespaces(isShort) {
    const { partitionInNamespaces } = await import("./namespaces.ts");
    return partitionInNamespaces({ seconds: isShort ? 5 : 60 });
  },
  async discovery() {
    const { discoveryInNamespaces } = await import("./namespaces.ts");
    return discoveryInNamespaces();
  },
  async relay(isShort) {
    const { behindTwoRouters } = await import("./relay.ts");
    return behindTwoRouters({ kinds: isShort ? ["iso"] : ["iso", "var", "aniso"] });
  },
  async links(isShort) {
    const { linksAtOnce, linksThatMove, restless } = await import("./links.ts");
    const held = [await linksAtOnce(), await linksThatMove()];
    if (!isShort) held.push(await restless({ seconds: 75 }));
    return held.every((is) => is);
  },
  async clock() {
    const { clockSteps } = await import("./tcpClock.ts");
    return clockSteps();
  },
  async processes(isShort) {
    const { agreement } = await import("./tcpProcesses.ts");
    return agreement({ seeds: isShort ? [1] : [1, 2, 3, 4, 5] });
  },
  async durability() {
    const { durability } = await import("./durability.ts");
    return durability();
  },
  async kills(isShort) {
    const { kills } = await import("./tcpProcesses.ts");
    return kills({ times: isShort ? 6 : 200 });
  },
  async logs() {
    const { logs } = await import("./logs.ts");
    return logs();
  },
  async identity(isShort) {
    const { identity } = await import("./identity.ts");
    return identity({ kills: isShort ? 3 : 20 });
  },
  async strangers(isShort) {
    const { strangers } = await import("./tcpAttacks.ts");
    return strangers({ count: isShort ? 50 : 1_000 });
  },
  async flood(isShort) {
    const { crowdedFlood, flood } = await import("./tcpFlood.ts");
    const seconds = isShort ? 3 : 20;
    const held = [await flood({ seconds }), await crowdedFlood({ seconds, peers: 56 })];
    return held.every((is) => is);
  },
  async malformed(isShort) {
    const { malformed } = await import("./tcpAttacks.ts");
    return malformed({ frames: isShort ? 400 : 10_000 });
  },
  async stalled(isShort) {
    const { stalled } = await import("./tcpAttacks.ts");
    return stalled({ peers: isShort ? 4 : 16 });
  },
  async costs() {
    const { deviceCosts } = await import("./tcpCosts.ts");
    return deviceCosts();
  },
  async up(isShort) {
    const { upNetworks } = await import("./upNetwork.ts");
    if (isShort) return upNetworks([{ devices: 10, graph: "ring" }], 10);
    const large = [
      { devices: 100, graph: "ring" },
      { devices: 30, graph: "er:0.7" },
    ];
    return upNetworks(large, 60);
  },
  async bytes() {
    const { bytesOfAChange } = await import("./tcpCosts.ts");
    return bytesOfAChange();
  },
  async silence(isShort) {
    const { silence } = await import("./tcpCosts.ts");
    return silence({ seconds: isShort ? 5 : 65 });
  },
});
