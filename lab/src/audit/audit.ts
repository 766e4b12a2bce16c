// npm run lab -- audit [PART...] [--short]: what liars and curious neighbours achieve. Exit 1 if a bar is missed.

import { sectionOf } from "../parts.ts";

// Each is loaded when it runs: a simulation needs no libp2p.
export const run = sectionOf({
  privacy: async (isShort) => (await import("./privacy.ts")).privacy({ runs: isShort ? 10 : 200 }),
  guarded: async (isShort) => (await import("./guardedRows.ts")).guardedRows(isShort ? 30 : 200),
  stages: async (isShort) => (await import("./privacy.ts")).everyStage({ runs: isShort ? 10 : 200 }),
  async private(isShort) {
    const { privateRows } = await import("./private.ts");
    const { privateShared } = await import("./privateShared.ts");
    const sizes = isShort ? { seeds: 5, draws: 20_000, runs: 2_000 } : { seeds: 24, draws: 1_000_000, runs: 5_000 };
    return [await privateRows(sizes), privateShared(sizes)].every((isGood) => isGood);
  },
  kills: async (isShort) => (await import("./privateKills.ts")).privateKills("personal", isShort ? 3 : 100),
  "shared-kills": async (isShort) => (await import("./privateKills.ts")).privateKills("shared", isShort ? 3 : 100),
  limits: async (isShort) => (await import("./ownerLimits.ts")).ownerLimits(isShort ? 30 : 100),
  poison: async (isShort) => (await import("./poison.ts")).poison(isShort ? 5 : 20),
  openings: async (isShort) => (await import("./openings.ts")).openings(isShort ? 3 : 10),
  honest: async (isShort) => (await import("./honest.ts")).honest(isShort ? 5 : 20),
  "poison-devices": async (isShort) => (await import("./poisonDevices.ts")).poisonedDevices(isShort ? 1 : 5),
});
