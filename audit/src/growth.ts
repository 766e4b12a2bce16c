// 60 days in which rows come and go on a device, and a reader who keeps everything that was sent and knows who was in it.

import { complete, type Matrix, predict } from "@fedkm/core";
import { scaleRows, simulate } from "@fedkm/device";
import { decodeHistory } from "@fedkm/device/inspect";
import { isolatedRows, type PublishedGroup } from "./judge.ts";
import type { Outcome } from "./outcome.ts";
import type { AttackScenario } from "./scenario.ts";

const DAYS = 60;
const CONSENT_DAYS = 20;
/** Of a day: what devices need to answer a change. */
const AWAKE_MILLISECONDS = 1_500;
const MOST_NEW_ROWS = 12;
/** A row is deleted on a day with this chance, and one that was deleted comes back. */
const DELETED = 0.02;
const BACK = 0.01;
/** New rows are like those that were there, but for this share of a range. */
const SPREAD = 0.01;

/** None for private rows, which are released once and not asked again. */
export function growthOutcome(scene: AttackScenario): Outcome[] {
  const { study, contract, datasets, seed } = scene;
  if (study.privacy === "private") return [];
  const days = rowsOfDays(scene);
  // As few devices as can be: with shared clusters each needs two neighbours.
  const some = [days[0], ...datasets.slice(1, study.clusters === "shared" ? 3 : 2)];
  const graph = complete(some.length);
  const network = simulate({ study, contract, datasets: some, graph, seed, staggerMilliseconds: 200 });
  const numbers = new Map<string, number>();
  const numberOf = ({ data, cols }: Matrix, r: number) => {
    const name = data.subarray(r * cols, (r + 1) * cols).join(" ");
    const known = numbers.get(name) ?? numbers.size;
    numbers.set(name, known);
    return known;
  };
  const groups = new Map<string, PublishedGroup>();
  for (const [day, rows] of days.entries()) {
    network.setRows(0, rows);
    // Now and then the owner wants deleted rows to go at once.
    if (day % CONSENT_DAYS === CONSENT_DAYS - 1 && study.privacy === "guarded") network.consent(0);
    network.run(AWAKE_MILLISECONDS);
    for (const group of groupsNow(scene, network, rows, numberOf)) groups.set(group.join(" "), group);
  }
  const { rows, smallestClass } = isolatedRows([...groups.values()]);
  return [
    {
      attack: "growth",
      rows: rows.length,
      ...(rows.length > 0 ? { rowError: 0 } : {}),
      ...(Number.isFinite(smallestClass) ? { smallestClass } : {}),
    },
  ];
}

/** Classes that were told apart, or the clusters where nothing is guarded. */
function groupsNow(
  { study }: AttackScenario,
  network: ReturnType<typeof simulate>,
  rows: Matrix,
  numberOf: (rows: Matrix, r: number) => number,
): number[][] {
  const groups = new Map<number, number[]>();
  const features = study.features.map(({ name }) => name);
  const { history } = network.snapshot(0);
  const counted = study.privacy === "guarded" && history !== undefined ? decodeHistory(history, features) : undefined;
  const centroids = network.centroids()[0];
  if (counted === undefined && centroids.rows === 0) return [];
  const of = counted?.counted.rows ?? rows;
  const labels = counted?.counted.classes.ids ?? predict(centroids, scaleRows(study, rows));
  labels.forEach((label, r) => {
    groups.set(label, [...(groups.get(label) ?? []), numberOf(of, r)]);
  });
  return [...groups.values()];
}

/** The rows of every day. */
function rowsOfDays({ study, datasets, random }: AttackScenario): Matrix[] {
  const [{ data, rows: many, cols }] = datasets;
  let rows = Array.from({ length: many }, (_, r) => Array.from(data.subarray(r * cols, (r + 1) * cols)));
  const away: number[][] = [];
  const drawn = () =>
    rows[Math.floor(rows.length * random())].map((x, f) => {
      const { min, max } = study.features[f];
      return Math.min(max, Math.max(min, x + SPREAD * (max - min) * (2 * random() - 1)));
    });
  return Array.from({ length: DAYS }, () => {
    const before = rows;
    rows = before.filter(() => random() >= DELETED);
    const back = away.filter((row) => !rows.includes(row) && random() < BACK);
    away.push(...before.filter((row) => !rows.includes(row)));
    rows = [...rows, ...back, ...Array.from({ length: Math.floor((MOST_NEW_ROWS + 1) * random()) }, drawn)];
    return { data: Float64Array.from(rows.flat()), rows: rows.length, cols };
  });
}
