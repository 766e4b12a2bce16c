// npm run lab -- shared [PART...] [--short]: shared clusters by masked sums, measured. Exit 1 if a bar is missed.

import { sectionOf } from "../parts.ts";

export const run = sectionOf({
  async exact(isShort) {
    const { exactEnds } = await import("./exact.ts");
    return exactEnds({ seeds: isShort ? 3 : 50 });
  },
  async faults(isShort) {
    const { sharedFaults } = await import("./sharedFaults.ts");
    return sharedFaults({ networks: isShort ? 24 : 1_000 });
  },
  async tree(isShort) {
    const { sharedFaults } = await import("./sharedFaults.ts");
    return sharedFaults({ networks: isShort ? 8 : 200, isTree: true });
  },
  async costs() {
    const { costs } = await import("./costs.ts");
    return costs();
  },
  async seeds(isShort) {
    const { seedsCompared } = await import("./seeds.ts");
    return seedsCompared({ seeds: isShort ? 3 : 20 });
  },
  async growth(isShort) {
    const { growth } = await import("./growth.ts");
    return growth(
      isShort
        ? { boards: [10, 30], trees: [10, 100] }
        : { boards: [10, 30, 100, 250], trees: [10, 100, 1_000, 10_000] },
    );
  },
  async coalitions(isShort) {
    const { coalitions } = await import("./privacy.ts");
    return coalitions({ runs: isShort ? 10 : 200 });
  },
  async records(isShort) {
    const { movingRecords } = await import("./privacy.ts");
    return movingRecords({ runs: isShort ? 9 : 200 });
  },
  async guarded(isShort) {
    const { guardedByRows } = await import("./guardedRows.ts");
    return guardedByRows({ networks: isShort ? 5 : 50 });
  },
  async departures(isShort) {
    const { sharedFaults } = await import("./sharedFaults.ts");
    return sharedFaults({ networks: isShort ? 3 : 100, only: ["leave"] });
  },
  async processes(isShort) {
    const { sharedProcesses } = await import("./processes.ts");
    return sharedProcesses(isShort ? { names: ["no fault"] } : {});
  },
});
