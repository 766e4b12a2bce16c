// What every attack of the audit finds in each mode. open must fall, or the attacks are not worth their name; guarded
// must give away no row.

import { auditStudy, leakOf, ownStudy, rowsFound, type Tally, titles } from "@fedkm/audit";
import type { Study } from "@fedkm/device";
import { print } from "../measure.ts";

/** Of the attacks on an open study that must succeed, at least this share do. */
const LEAST_INVERTED = 0.95;
/** The attacks were written on other seeds. */
const FIRST_SEED = 10_000;

const shared = { clusters: "shared", colluders: 1 } as const;

interface Bar {
  readonly title: string;
  readonly study: Partial<Study>;
  readonly bar: string;
  readonly isHeld: (tallies: readonly Tally[]) => boolean;
}

const noRow = { bar: "no attack finds a row", isHeld: (tallies: readonly Tally[]) => rowsFound(tallies) === 0 };

const bars: readonly Bar[] = [
  {
    title: "open",
    study: { privacy: "open" },
    bar: `inversion and coalition find means in at least ${100 * LEAST_INVERTED} %`,
    isHeld: (tallies) =>
      tallies
        .filter(({ attack }) => attack === "inversion" || attack === "coalition")
        .every(({ groups, tried }) => groups >= LEAST_INVERTED * tried),
  },
  { title: "guarded", study: { privacy: "guarded" }, ...noRow },
  {
    title: "open, shared clusters",
    study: { ...shared, privacy: "open" },
    bar: `all neighbours together find a row in at least ${100 * LEAST_INVERTED} %`,
    isHeld: (tallies) =>
      tallies
        .filter(({ attack }) => attack === "coalition")
        .every(({ withRows, tried }) => withRows >= LEAST_INVERTED * tried),
  },
  { title: "guarded, shared clusters", study: { ...shared, privacy: "guarded" }, ...noRow },
];

export async function privacy({ runs }: { readonly runs: number }): Promise<boolean> {
  let isEveryHeld = true;
  for (const { title, study: changes, bar, isHeld } of bars) {
    const begun = performance.now();
    const study = { ...ownStudy, ...changes };
    const tallies = await auditStudy({ study, datasets: [], runs, seed: FIRST_SEED });
    const held = isHeld(tallies);
    isEveryHeld &&= held;
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    print(`${title}: ${runs} networks, ${seconds} s`, [
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
