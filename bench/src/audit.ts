// npm run audit [-- SECTION...] [--short]: what liars and curious neighbours achieve. Exit 1 if a bar is missed.

import { parseArgs } from "node:util";

/** Prints its tables; returns whether every bar in them is held. */
type Section = (isShort: boolean) => Promise<boolean>;

// Each is loaded when it runs: a simulation needs no libp2p.
const sections: Record<string, Section> = {
  async privacy(isShort) {
    const { privacy } = await import("./audit/privacy.ts");
    return privacy({ runs: isShort ? 10 : 200 });
  },
  async private(isShort) {
    const { privateRows } = await import("./audit/private.ts");
    const { privateShared } = await import("./audit/privateShared.ts");
    const { privateKills } = await import("./audit/privateKills.ts");
    const sizes = isShort ? { seeds: 5, draws: 20_000, runs: 2_000 } : { seeds: 24, draws: 1_000_000, runs: 5_000 };
    const kills = await privateKills({ kills: isShort ? 3 : 100 });
    return [privateRows(sizes), privateShared(sizes), kills].every((isGood) => isGood);
  },
  async poison(isShort) {
    const { poison } = await import("./audit/poison.ts");
    return poison(isShort ? 5 : 20);
  },
  async openings(isShort) {
    const { openings } = await import("./audit/openings.ts");
    return openings(isShort ? 3 : 10);
  },
  async honest(isShort) {
    const { honest } = await import("./audit/honest.ts");
    return honest(isShort ? 5 : 20);
  },
  async "poison-devices"(isShort) {
    const { poisonedDevices } = await import("./audit/poisonDevices.ts");
    return poisonedDevices(isShort ? 1 : 5);
  },
};

const { values, positionals } = parseArgs({
  options: { short: { type: "boolean", default: false } },
  allowPositionals: true,
});
const stranger = positionals.find((name) => !Object.hasOwn(sections, name));
if (stranger !== undefined) {
  console.error(`audit: section must be one of ${Object.keys(sections).join(", ")}, got ${stranger}`);
  process.exit(2);
}

const missed: string[] = [];
for (const [name, section] of Object.entries(sections)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  if (!(await section(values.short))) missed.push(name);
}
console.log(missed.length === 0 ? "\nEvery bar held." : `\nMissed: ${missed.join(", ")}.`);
if (missed.length > 0) process.exitCode = 1;
