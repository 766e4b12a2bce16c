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

const openQuestions: Partial<Study> = {
  alpha: 0,
  features: ownStudy.features.map(({ name, unit }) => ({ name, unit, min: 0, max: 1, scale: 1, open: "number" })),
};

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

const stageBars: readonly Bar[] = [
  {
    title: "open, with open questions",
    study: { ...shared, ...openQuestions, privacy: "open", minimum: 1 },
    bar: `the describing gives away a row in at least ${100 * LEAST_INVERTED} %`,
    isHeld: (tallies) =>
      tallies
        .filter(({ attack }) => attack === "describing")
        .every(({ withRows, tried }) => withRows >= LEAST_INVERTED * tried),
  },
  {
    title: "guarded, every stage of a study with open questions",
    study: { ...shared, ...openQuestions, privacy: "guarded" },
    ...noRow,
  },
];

export const privacy = ({ runs }: { readonly runs: number }) => attacked(bars, runs);

/** Studies that leave questions open, from the describing to the clusters. */
export const everyStage = ({ runs }: { readonly runs: number }) => attacked(stageBars, runs);

async function attacked(some: readonly Bar[], runs: number): Promise<boolean> {
  let isEveryHeld = true;
  for (const { title, study: changes, bar, isHeld } of some) {
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
