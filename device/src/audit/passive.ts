// Attacks by reading alone: neighbours that do as they should, and keep what they get while rows and devices come and go.

import { takeRows } from "@fedkm/core";
import { type RowClaim, rowsIn } from "./follow.ts";
import { type History, live } from "./history.ts";
import { type Rules, type Snapshot, snapshotsOf } from "./inversion.ts";
import { classesOf, groupsError, meansError, publishedGroups, rowError, type Truth } from "./judge.ts";
import { membershipOutcome } from "./membership.ts";
import type { Attack, Outcome } from "./outcome.ts";
import { centroidsOf } from "../sketch.ts";
import { type Group, isolatedRows } from "./rowSpace.ts";
import type { Scene } from "./scene.ts";
import { type Message, type Seen, seenBy } from "./seen.ts";

export function passiveAttacks(scene: Scene): Outcome[] {
  const history = live(scene);
  const { contract, rules, ranges, study } = scene;
  const truth = { points: history.points, ranges };
  const all = seenBy(contract, history.self, history.events);
  const found = snapshotsOf(all.messages, rules);
  const claims = rowsIn(all.messages, found, rules, study.k * study.minimum);
  const timeOf = ({ message }: { message: number }) => all.messages[message].at;
  const isIn = (n: number, at: number) =>
    at <= history.periods[n].until && (n === 0 || at > history.periods[n - 1].until);
  return [
    coalition(found, all, history, truth),
    bystander(scene, history, truth),
    sketches(all, history, truth),
    ...history.periods.flatMap(({ attack }, n) => {
      if (attack === undefined) return [];
      const own = claims.filter((claim) => isIn(n, timeOf(claim)));
      return [rowsOutcome(attack, own, truth)];
    }),
    rowSpace(scene, all, history),
    membershipOutcome(scene, all),
  ];
}

/** Of the neighbours that are there from the start, all together. */
function coalition(found: readonly Snapshot[], { messages }: Seen, { periods }: History, truth: Truth): Outcome {
  const [first] = periods;
  const points = takeRows(truth.points, first.rows);
  const errors = found.flatMap((snapshot) => {
    const message = messages[snapshot.message];
    return message.at <= first.until ? (groupsError(snapshot, message, { ...truth, points }) ?? []) : [];
  });
  return { attack: "coalition", groups: errors.length > 0 ? Math.min(...errors) : undefined };
}

/** One neighbour among several that does not know what the others sent. */
function bystander({ contract, rules, study }: Scene, { self, events }: History, truth: Truth): Outcome {
  const { messages } = seenBy(contract, self, events, ["device-1"]);
  const found = snapshotsOf(messages, rules);
  const errors = found.flatMap((snapshot) => groupsError(snapshot, messages[snapshot.message], truth) ?? []);
  const claims = rowsIn(messages, found, rules, study.k * study.minimum);
  return { ...rowsOutcome("bystander", claims, truth), groups: errors.length > 0 ? Math.min(...errors) : undefined };
}

/** What every device of the network is sent of the own clusters of this one. */
function sketches({ sketches: found }: Seen, { periods }: History, truth: Truth): Outcome {
  const given = found.map(centroidsOf);
  const claims = given.flatMap(({ data, rows, cols }) =>
    Array.from({ length: rows }, (_, c): RowClaim => {
      return { how: "moved", message: 0, values: data.slice(c * cols, (c + 1) * cols), error: 0 };
    }),
  );
  const points = takeRows(truth.points, periods[0].rows);
  const { rows = 0, rowError: error } = rowsOutcome("sketches", claims, truth);
  return {
    attack: "sketches",
    groups: given.length > 0 ? meansError(given[0], { ...truth, points }) : undefined,
    rows,
    ...(error === undefined ? {} : { rowError: error }),
  };
}

/** Held against the truth. */
export function rowsOutcome(attack: Attack, claims: readonly RowClaim[], truth: Truth): Outcome {
  const errors = claims.map((claim) => rowError(claim, truth));
  const right = errors.filter((error) => error !== undefined);
  return {
    attack,
    rows: right.length,
    wrong: errors.length - right.length,
    ...(right.length > 0 ? { rowError: Math.min(...right) } : {}),
  };
}

/** Everything that was ever published, against somebody who knows who was in which group. */
function rowSpace({ rules }: Scene, { messages }: Seen, history: History): Outcome {
  const groups = new Map<string, Group>();
  for (const message of messages) {
    for (const group of groupsAt(message, history, rules)) groups.set(group.join(), group);
  }
  const { rows, smallestClass } = isolatedRows([...groups.values()]);
  return {
    attack: "row space",
    rows: rows.length,
    ...(rows.length > 0 ? { rowError: 0 } : {}),
    ...(Number.isFinite(smallestClass) ? { smallestClass } : {}),
  };
}

/** Where rows wait until they are many, those from before are still in use. */
function groupsAt(message: Message, { periods, points, saved }: History, rules: Rules): Group[] {
  const own = periods.find(({ until }) => message.at <= until)?.rows ?? [];
  for (const rows of [own, periods[0].rows]) {
    const found = publishedGroups(message, takeRows(points, rows), rules, classesOf(saved));
    if (found !== undefined) return found.map((group) => group.map((row) => rows[row]));
  }
  return [];
}
