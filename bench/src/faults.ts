// npm run faults [-- FAMILY...] [--short]: what devices do when things go wrong. Exit 1 if a bar is missed.

import { runSections } from "./sections.ts";

// Each is loaded when it runs: a simulation needs no libp2p.
await runSections("faults", {
  async simulated(isShort) {
    const { faultsInSimulation, staggeredStarts } = await import("./faults/simulated.ts");
    const held = [
      await faultsInSimulation({ seeds: isShort ? [1] : [1, 2, 3, 4, 5] }),
      await staggeredStarts({ networks: isShort ? 6 : 250 }),
    ];
    return held.every((is) => is);
  },
  async ghosts(isShort) {
    const { ghosts } = await import("./faults/ghosts.ts");
    const { ghostsAsProcesses } = await import("./faults/ghostProcesses.ts");
    const held = [
      await ghosts({ first: 1, last: isShort ? 15 : 1_000 }),
      await ghostsAsProcesses({ seeds: isShort ? [1] : [1, 2, 3, 4, 5] }),
    ];
    return held.every((is) => is);
  },
  async change(isShort) {
    const { changes } = await import("./faults/change.ts");
    return changes({ first: 1, last: isShort ? 9 : 90 });
  },
  async months(isShort) {
    const { months } = await import("./faults/months.ts");
    return months({ days: isShort ? 12 : 730 });
  },
  async scale(isShort) {
    const { manySimulatedDevices } = await import("./faults/scale.ts");
    return manySimulatedDevices({ sizes: isShort ? [100] : [100, 1_000, 10_000] });
  },
  async tcp(isShort) {
    const { faultsOverTcp } = await import("./faults/tcpFaults.ts");
    return faultsOverTcp({ seeds: isShort ? [1] : [1, 2, 3] });
  },
  async namespaces(isShort) {
    const { partitionInNamespaces } = await import("./faults/namespaces.ts");
    return partitionInNamespaces({ seconds: isShort ? 5 : 60 });
  },
  async discovery() {
    const { discoveryInNamespaces } = await import("./faults/namespaces.ts");
    return discoveryInNamespaces();
  },
  async relay(isShort) {
    const { behindTwoRouters } = await import("./faults/relay.ts");
    return behindTwoRouters({ kinds: isShort ? ["iso"] : ["iso", "var", "aniso"] });
  },
  async links(isShort) {
    const { linksAtOnce, linksThatMove, restless } = await import("./faults/links.ts");
    const held = [await linksAtOnce(), await linksThatMove()];
    if (!isShort) held.push(await restless({ seconds: 75 }));
    return held.every((is) => is);
  },
  async clock() {
    const { clockSteps } = await import("./faults/tcpClock.ts");
    return clockSteps();
  },
  async processes(isShort) {
    const { agreement } = await import("./faults/tcpProcesses.ts");
    return agreement({ seeds: isShort ? [1] : [1, 2, 3, 4, 5] });
  },
  async durability() {
    const { durability } = await import("./faults/durability.ts");
    return durability();
  },
  async kills(isShort) {
    const { kills } = await import("./faults/tcpProcesses.ts");
    return kills({ times: isShort ? 6 : 200 });
  },
  async logs() {
    const { logs } = await import("./faults/logs.ts");
    return logs();
  },
  async identity(isShort) {
    const { identity } = await import("./faults/identity.ts");
    return identity({ kills: isShort ? 3 : 20 });
  },
  async strangers(isShort) {
    const { strangers } = await import("./faults/tcpAttacks.ts");
    return strangers({ count: isShort ? 50 : 1_000 });
  },
  async flood(isShort) {
    const { crowdedFlood, flood } = await import("./faults/tcpFlood.ts");
    const seconds = isShort ? 3 : 20;
    const held = [await flood({ seconds }), await crowdedFlood({ seconds, peers: 56 })];
    return held.every((is) => is);
  },
  async malformed(isShort) {
    const { malformed } = await import("./faults/tcpAttacks.ts");
    return malformed({ frames: isShort ? 400 : 10_000 });
  },
  async stalled(isShort) {
    const { stalled } = await import("./faults/tcpAttacks.ts");
    return stalled({ peers: isShort ? 4 : 16 });
  },
  async costs() {
    const { deviceCosts } = await import("./faults/tcpCosts.ts");
    return deviceCosts();
  },
  async up(isShort) {
    const { upNetworks } = await import("./faults/upNetwork.ts");
    if (isShort) return upNetworks([{ devices: 10, graph: "ring" }], 10);
    const large = [
      { devices: 100, graph: "ring" },
      { devices: 30, graph: "er:0.7" },
    ];
    return upNetworks(large, 60);
  },
  async bytes() {
    const { bytesOfAChange } = await import("./faults/tcpCosts.ts");
    return bytesOfAChange();
  },
  async silence(isShort) {
    const { silence } = await import("./faults/tcpCosts.ts");
    return silence({ seconds: isShort ? 5 : 65 });
  },
});
