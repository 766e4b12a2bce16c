// Attacks by reading alone: neighbours that do as they should, and keep what they get while rows and devices come and go.

import { takeRows } from "@fedkm/core";
import { type AttackedLife, simulateLife } from "./history.ts";
import type { PublicRules } from "./inversion.ts";
import { publishedGroups } from "./judge.ts";
import { groupsFound, reconstruct, rowSpaceOutcome, rowsOutcome, sketchesOutcome } from "./judged.ts";
import { membershipOutcome } from "./membership.ts";
import { type ObservedMessage, observedBy } from "./observation.ts";
import type { Outcome } from "./outcome.ts";
import type { PublishedGroup } from "./rowSpace.ts";
import type { AttackScenario } from "./scenario.ts";

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
  if (counted !== undefined) return publishedGroups(message, counted, rules) ?? [];
  const rows = periods.find(({ until }) => message.at <= until)?.rows ?? [];
  const found = publishedGroups(message, { points: takeRows(points, rows) }, rules) ?? [];
  return found.map((group) => group.map((row) => rows[row]));
}
