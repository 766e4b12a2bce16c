// Attacks by reading alone: neighbours that do as they should, and keep what they get while rows and devices come and go.

import { takeRows } from "@fedkm/core";
import { type History, live } from "./history.ts";
import type { Rules } from "./inversion.ts";
import { publishedGroups } from "./judge.ts";
import { compute, groupsFound, rowSpaceOutcome, rowsOutcome, sketchesOutcome } from "./judged.ts";
import { membershipOutcome } from "./membership.ts";
import type { Outcome } from "./outcome.ts";
import type { Group } from "./rowSpace.ts";
import type { Scene } from "./scene.ts";
import { type Message, seenBy } from "./seen.ts";

export function passiveAttacks(scene: Scene): Outcome[] {
  const { contract, rules, ranges, study } = scene;
  const least = study.k * study.minimum;
  const history = live(scene);
  const { self, events, points, periods, counted } = history;
  const everyRow = { points, ranges };
  const atFirst = { ...(counted ?? { points: takeRows(points, periods[0].rows) }), ranges };
  const seen = seenBy(contract, self, events);
  const all = compute(seen.messages, rules, least);
  const one = compute(seenBy(contract, self, events, ["device-1"]).messages, rules, least);
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
function groupsAt(message: Message, { periods, points, counted }: History, rules: Rules): Group[] {
  if (counted !== undefined) return publishedGroups(message, counted, rules) ?? [];
  const rows = periods.find(({ until }) => message.at <= until)?.rows ?? [];
  const found = publishedGroups(message, { points: takeRows(points, rows) }, rules) ?? [];
  return found.map((group) => group.map((row) => rows[row]));
}
