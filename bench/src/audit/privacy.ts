// What every attack of the audit finds in each mode. open must fall, or the attacks are not worth their name; guarded
// must give away no row.

import { auditStudy, leakOf, ownStudy, rowsFound, type Tally, titles } from "@fedkm/device/audit";
import { print } from "../table.ts";

/** Of the inversions of an open study, at least this share must find the means. */
const LEAST_INVERTED = 0.95;
/** The attacks were written on other seeds. */
const FIRST_SEED = 10_000;

const bars = [
  {
    privacy: "open",
    bar: `inversion and coalition find means in at least ${100 * LEAST_INVERTED} %`,
    isHeld: (tallies: readonly Tally[]) =>
      tallies
        .filter(({ attack }) => attack === "inversion" || attack === "coalition")
        .every(({ groups, tried }) => groups >= LEAST_INVERTED * tried),
  },
  {
    privacy: "guarded",
    bar: "no attack finds a row",
    isHeld: (tallies: readonly Tally[]) => rowsFound(tallies) === 0,
  },
] as const;

export async function privacy({ runs }: { readonly runs: number }): Promise<boolean> {
  let isEveryHeld = true;
  for (const { privacy: mode, bar, isHeld } of bars) {
    const begun = performance.now();
    const study = { ...ownStudy, privacy: mode };
    const tallies = await auditStudy({ study, datasets: [], runs, seed: FIRST_SEED });
    const held = isHeld(tallies);
    isEveryHeld &&= held;
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    print(`${mode}: ${runs} networks, ${seconds} s`, [
      ["attack", "tried", "means", "rows", "worst"],
      ...tallies.map((tally) => [
        titles[tally.attack],
        String(tally.tried),
        String(tally.groups),
        String(tally.withRows),
        leakOf(tally),
      ]),
    ]);
    console.log(`  bar: ${bar}: ${held ? "held" : "MISSED"}`);
  }
  return isEveryHeld;
}
