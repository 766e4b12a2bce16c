// npm run lab -- shared [PART...] [--short]: shared clusters by masked sums, measured. Exit 1 if a bar is missed.

import { sectionOf } from "../parts.ts";

export const run = sectionOf({
  exact: async (isShort) => (await import("./exact.ts")).exactEnds({ seeds: isShort ? 3 : 50 }),
  faults: async (isShort) => (await import("./sharedFaults.ts")).sharedFaults({ networks: isShort ? 24 : 1_000 }),
  tree: async (isShort) =>
    (await import("./sharedFaults.ts")).sharedFaults({ networks: isShort ? 8 : 200, isTree: true }),
  costs: async () => (await import("./costs.ts")).costs(),
  seeds: async (isShort) => (await import("./exact.ts")).seedsCompared({ seeds: isShort ? 3 : 20 }),
  tables: async (isShort) => (await import("./tables.ts")).tablesCompared({ tables: isShort ? 3 : 14 }),
  units: async (isShort) => (await import("./units.ts")).wrongUnits({ networks: isShort ? 3 : 100 }),
  async growth(isShort) {
    const { growth } = await import("./costs.ts");
    return growth(
      isShort
        ? { boards: [10, 30], trees: [10, 100] }
        : { boards: [10, 30, 100, 250], trees: [10, 100, 1_000, 10_000] },
    );
  },
  coalitions: async (isShort) => (await import("./privacy.ts")).coalitions({ runs: isShort ? 10 : 200 }),
  records: async (isShort) => (await import("./privacy.ts")).movingRecords({ runs: isShort ? 9 : 200 }),
  guarded: async (isShort) => (await import("./privacy.ts")).guardedByRows({ networks: isShort ? 5 : 50 }),
  claims: async (isShort) => (await import("./books.ts")).claims({ networks: isShort ? 10 : 200 }),
  skew: async (isShort) => (await import("./books.ts")).honestSkew({ networks: isShort ? 10 : 200 }),
  groups: async (isShort) => (await import("./groups.ts")).groupsCompared({ seeds: isShort ? 5 : 50 }),
  departures: async (isShort) =>
    (await import("./sharedFaults.ts")).sharedFaults({ networks: isShort ? 3 : 100, only: ["leave"] }),
  leavers: async (isShort) =>
    (await import("./releaseDepartures.ts")).releaseDepartures({ departures: isShort ? 6 : 100 }),
  processes: async (isShort) =>
    (await import("./sharedFaults.ts")).sharedProcesses(isShort ? { names: ["no fault"] } : {}),
});
