// What one run of the audit is about: a study, the rows of every device, rows that are kept apart, and who is attacked.

import { type Matrix, normalStream, type Random, randomStream, takeRows } from "@fedkm/core";
import { type Contract, contractOf, foundedStudy, type Study } from "@fedkm/device";
import { simulatedPeer } from "@fedkm/device/inspect";
import type { PublicRules } from "./inversion.ts";

export interface AttackScenario {
  readonly study: Study;
  readonly contract: Contract;
  readonly seed: number;
  readonly random: Random;
  /** In the features' units. Device 0 is attacked, the last one comes late and leaves again. */
  readonly datasets: readonly Matrix[];
  /** Rows like those of device 0 that it does not have: one is added later, the others were never there. */
  readonly apart: Matrix;
  readonly rules: PublicRules;
  /** Of the features, in scaled units. */
  readonly ranges: Float64Array;
}

/** Devices of a run, and the most rows of one: attacks on more would take longer and show the same. */
const DEVICES = 4;
const MOST_ROWS = 300;
/** Rows that are kept apart. */
const APART = 8;
/** What guarded numbers are rounded to. */
const GUARDED_GRAIN = 2 ** -20;

/** The study that is attacked where none is given. */
export const ownStudy: Study = {
  name: "an example",
  k: 3,
  features: ["x1", "x2"].map((name) => ({ name, unit: "", min: -30, max: 30, scale: 1 })),
  alpha: 1,
  coupling: "nearest",
  weighting: "device",
  typicalRows: null,
  privacy: "open",
  minimum: 10,
};

/** The same with differential privacy, of an epsilon at which a device of so few rows does not drown in its noise. */
export const ownPrivateStudy: Study = {
  ...ownStudy,
  privacy: "private",
  typicalRows: 75,
  epsilon: 5,
  delta: 1e-5,
  lifetimeEpsilon: 20,
};

/** `datasets`: rows of devices, in the features' units; none: drawn anew. */
export async function attackScenario(of: Study, datasets: readonly Matrix[], seed: number): Promise<AttackScenario> {
  // Attacks look for rows: each is a person of its own, which hides it the least.
  const { protects: _, personColumn: __, ...asked } = of;
  const random = randomStream(seed, "audit");
  const given = datasets.length > 0 ? pickDevices(datasets, seed, random) : drawDevices(asked, random);
  // A study that waits for more devices than are attacked would release nothing, and nothing would be found.
  const { devices } = asked;
  const study = foundedStudy(
    { ...asked, ...(devices && { devices: Math.min(devices, given.length) }) },
    given.map((_, i) => simulatedPeer(i)),
  );
  const [first, ...others] = given;
  const own = pickRows(first, random);
  const apart = Math.max(1, Math.min(APART, Math.floor(own.rows / 10)));
  return {
    study,
    contract: await contractOf(study),
    seed,
    random,
    datasets: [takeRows(own, scenarioNumbers(apart, own.rows)), ...others.map((rows) => pickRows(rows, random))],
    apart: takeRows(own, scenarioNumbers(0, apart)),
    rules: attackRules(study),
    ranges: attackedRanges(study),
  };
}

/** Whole numbers from one up to the other, which is not among them. */
export const scenarioNumbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

/** In the scaled units of the study. */
export function attackedRanges({ features }: Study): Float64Array {
  return Float64Array.from(features, ({ min, max, scale }) => (max - min) / scale);
}

/** What every neighbour knows. */
export function attackRules(study: Study): PublicRules {
  const { alpha, coupling, typicalRows, privacy } = study;
  const grain = privacy === "open" ? 0 : GUARDED_GRAIN * Math.max(...attackedRanges(study));
  return { alpha, coupling, typicalRows, grain };
}

/** Every device is attacked in turn. */
function pickDevices(datasets: readonly Matrix[], seed: number, random: Random): Matrix[] {
  const first = seed % datasets.length;
  const others = mixed(datasets.length, random).filter((i) => i !== first);
  return [first, ...others.slice(0, DEVICES - 1)].map((i) => datasets[i]);
}

function pickRows(rows: Matrix, random: Random): Matrix {
  return takeRows(rows, mixed(rows.rows, random).slice(0, MOST_ROWS));
}

function mixed(size: number, random: Random): number[] {
  return scenarioNumbers(0, size)
    .map((i) => ({ i, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ i }) => i);
}

/** Groups that overlap a little, as real ones do; all devices draw from the same ones. */
function drawDevices(study: Study, random: Random): Matrix[] {
  const { k, features, minimum } = study;
  const normal = normalStream(random);
  const centres = scenarioNumbers(0, k).map(() =>
    features.map(({ min, max }) => min + (max - min) * (0.2 + 0.6 * random())),
  );
  const widths = scenarioNumbers(0, k).map(() => 0.02 + 0.06 * random());
  return scenarioNumbers(0, DEVICES).map(() => {
    const rows = Math.ceil(Math.max(60, 2 * k * minimum) * (1 + 0.5 * random()));
    const data = Float64Array.from({ length: rows * features.length }, () => 0);
    for (let r = 0; r < rows; r++) {
      const group = Math.floor(k * random());
      features.forEach(({ min, max }, f) => {
        const value = centres[group][f] + widths[group] * (max - min) * normal();
        data[r * features.length + f] = Math.min(max, Math.max(min, value));
      });
    }
    return { data, rows, cols: features.length };
  });
}
