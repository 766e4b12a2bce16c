// Attacks by reading alone: neighbours that do as they should, and keep what they get while rows and devices come and go.

import { complete, kmeans, type Matrix, predict, stack, takeRows } from "@fedkm/core";
import { scaleRows, simulate } from "@fedkm/device";
import { openingSketchCentroids, type RecordedEvent } from "@fedkm/device/inspect";
import type { PublicRules } from "./inversion.ts";
import {
  groupsFound,
  judgedGroups,
  judgedRows,
  type PublishedGroup,
  reconstruct,
  rowSpaceOutcome,
  rowsOutcome,
  sketchesOutcome,
} from "./judge.ts";
import { type Observation, type ObservedMessage, observedBy } from "./observation.ts";
import type { Attack, Outcome } from "./outcome.ts";
import { type AttackScenario, scenarioNumbers } from "./scenario.ts";

// Membership: does what a device sends tell whether a given row is among its rows?

/**
 * The attacker gets two rows, one of the device and one of the same kind that is not, and says which is which. A mean
 * leans towards every row in it: what counts is how far the device's mean leans towards a row, seen from the mean of
 * the attacker's own rows of that cluster.
 */
function membershipOutcome(
  { study, datasets, apart, random }: AttackScenario,
  { sketches, messages }: Observation,
): Outcome {
  const first = sketches.at(0);
  const sent = first === undefined ? messages.at(0)?.centroids : openingSketchCentroids(first);
  if (sent === undefined || sent.rows === 0) return { attack: "membership", guesses: 0, rightGuesses: 0 };
  const [own, neighbours] = [scaleRows(study, datasets[0]), scaleRows(study, datasets[1])];
  const reference = kmeans(neighbours, { k: study.k, restarts: 3, seed: 1 }).centroids;
  const lean = (row: Float64Array) => {
    const mean = nearestCentroid(sent, row);
    const from = nearestCentroid(reference, mean);
    return row.reduce((sum, x, d) => sum + (mean[d] - from[d]) * (x - from[d]), 0);
  };
  const outside = scaleRows(study, apart);
  let rightGuesses = 0;
  // The first of the rows that are kept apart is added later.
  for (let r = 1; r < outside.rows; r++) {
    const member = rowOf(own, Math.floor(random() * own.rows));
    if (lean(member) > lean(rowOf(outside, r))) rightGuesses++;
  }
  return { attack: "membership", guesses: Math.max(0, outside.rows - 1), rightGuesses };
}

function rowOf({ data, cols }: Matrix, r: number): Float64Array {
  return data.subarray(r * cols, (r + 1) * cols);
}

function nearestCentroid(centroids: Matrix, row: Float64Array): Float64Array {
  const [label] = predict(centroids, { data: row, rows: 1, cols: row.length });
  return rowOf(centroids, label);
}

// The life of one attacked device in a simulated network: it starts, rows come and go, a neighbour joins and leaves.

/** What happened to the attacked device, and when. */
interface LifePeriod {
  readonly until: number;
  readonly attack: Attack | undefined;
  /** Its rows by their numbers among all that it ever had. */
  readonly rows: readonly number[];
}

type AttackedLife = ReturnType<typeof simulateLife>;

/** A device has found its place among its neighbours after this time, and changes of one row or device after that. */
const FIRST_MILLISECONDS = 1_500;
const LATER_MILLISECONDS = 800;

function simulateLife(scene: AttackScenario) {
  const { study, contract, datasets, apart, seed, random } = scene;
  const [own] = datasets;
  const last = datasets.length - 1;
  const hasLate = last > 1;
  const events: RecordedEvent[] = [];
  const network = simulate({
    study,
    contract,
    datasets,
    graph: complete(datasets.length),
    seed,
    staggerMilliseconds: 200,
    ...(hasLate ? { absent: [last] } : {}),
    record: (i, event) => {
      if (i === 0) events.push(event);
    },
  });
  const periods: LifePeriod[] = [];
  const pass = (milliseconds: number, attack: Attack | undefined, rows: readonly number[]) => {
    network.run(milliseconds);
    periods.push({ until: network.now(), attack, rows });
  };
  const everything = stack([own, takeRows(apart, [0])]);
  const first = scenarioNumbers(0, own.rows);
  pass(FIRST_MILLISECONDS, undefined, first);
  const more = [...first, own.rows];
  network.setRows(0, everything);
  pass(LATER_MILLISECONDS, "added row", more);
  const gone = Math.floor(random() * own.rows);
  const fewer = more.filter((row) => row !== gone);
  network.setRows(0, takeRows(everything, fewer));
  pass(LATER_MILLISECONDS, "deleted row", fewer);
  if (hasLate) {
    network.restart(last);
    pass(LATER_MILLISECONDS, "device joins", fewer);
    for (const i of datasets.keys())
      if (i < last)
        network.setLinks(
          i,
          scenarioNumbers(0, last).filter((j) => j !== i),
        );
    network.crash(last);
    pass(LATER_MILLISECONDS, "device leaves", fewer);
  }
  return {
    self: "device-0",
    events,
    periods,
    /** All rows that the device ever had, in scaled units. */
    points: scaleRows(study, everything),
    /** Where its rows are guarded: what it has in use, which is not always what it has. */
    counted: judgedRows(study, network.history(0)),
  };
}

export function passiveAttacks(scene: AttackScenario): Outcome[] {
  const { contract, rules, ranges, study } = scene;
  const least = study.k * study.minimum;
  const history = simulateLife(scene);
  const { self, events, points, periods, counted } = history;
  const everyRow = { points, ranges };
  const atFirst = { ...(counted ?? { points: takeRows(points, periods[0].rows) }), ranges };
  const seen = observedBy(contract, self, events);
  const all = reconstruct(seen.messages, rules, least);
  const one = reconstruct(observedBy(contract, self, events, ["device-1"]).messages, rules, least);
  const claimsIn = (n: number) => {
    const since = n === 0 ? Number.NEGATIVE_INFINITY : periods[n - 1].until;
    return all.claims.filter(({ message }) => {
      const { at } = all.messages[message];
      return at > since && at <= periods[n].until;
    });
  };
  return [
    { ...rowsOutcome("coalition", claimsIn(0), everyRow), groups: groupsFound(all, atFirst) },
    { ...rowsOutcome("bystander", one.claims, everyRow), groups: groupsFound(one, atFirst) },
    sketchesOutcome(seen.sketches, atFirst, everyRow),
    ...periods.flatMap(({ attack }, n) => {
      return attack === undefined ? [] : [rowsOutcome(attack, claimsIn(n), everyRow)];
    }),
    rowSpaceOutcome(seen.messages.flatMap((message) => groupsAt(message, history, rules))),
    membershipOutcome(scene, seen),
  ];
}

/** The groups of rows by their numbers among all that the device ever had, or among those that it has in use. */
function groupsAt(
  message: ObservedMessage,
  { periods, points, counted }: AttackedLife,
  rules: PublicRules,
): PublishedGroup[] {
  if (counted !== undefined) return judgedGroups(message, counted, rules) ?? [];
  const rows = periods.find(({ until }) => message.at <= until)?.rows ?? [];
  const found = judgedGroups(message, { points: takeRows(points, rows) }, rules) ?? [];
  return found.map((group) => group.map((row) => rows[row]));
}
