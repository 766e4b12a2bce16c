// npm run lab -- audit [PART...] [--short]: what liars and curious neighbours achieve. Exit 1 if a bar is missed.

import { sectionOf } from "../parts.ts";

// Each is loaded when it runs: a simulation needs no libp2p.
export const run = sectionOf({
  async privacy(isShort) {
    const { privacy } = await import("./privacy.ts");
    return privacy({ runs: isShort ? 10 : 200 });
  },
  async private(isShort) {
    const { privateRows } = await import("./private.ts");
    const { privateShared } = await import("./privateShared.ts");
    const { privateKills } = await import("./privateKills.ts");
    const sizes = isShort ? { seeds: 5, draws: 20_000, runs: 2_000 } : { seeds: 24, draws: 1_000_000, runs: 5_000 };
    const kills = await privateKills({ kills: isShort ? 3 : 100 });
    return [privateRows(sizes), privateShared(sizes), kills].every((isGood) => isGood);
  },
  async poison(isShort) {
    const { poison } = await import("./poison.ts");
    return poison(isShort ? 5 : 20);
  },
  async openings(isShort) {
    const { openings } = await import("./openings.ts");
    return openings(isShort ? 3 : 10);
  },
  async honest(isShort) {
    const { honest } = await import("./honest.ts");
    return honest(isShort ? 5 : 20);
  },
  async "poison-devices"(isShort) {
    const { poisonedDevices } = await import("./poisonDevices.ts");
    return poisonedDevices(isShort ? 1 : 5);
  },
});
