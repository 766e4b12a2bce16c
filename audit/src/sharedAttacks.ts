// Attacks on shared clusters: what anybody reads from the totals, what neighbours learn who put together their pads, and
// what changes give away. Device 0 is attacked; the last one comes late and leaves again.

import { complete, type Matrix, stack, takeRows } from "@fedkm/core";
import { type Simulation, type Study, simulate } from "@fedkm/device";
import { simulatedSecrets } from "@fedkm/device/inspect";
import { fromInt64s, idOf, stages } from "@fedkm/device/shared";
import { coalitionSums, type GenerationTotals, observeBoards, rowsMovedAlone } from "./boards.ts";
import type { Attack, Outcome } from "./outcome.ts";
import { type AttackScenario, scenarioNumbers } from "./scenario.ts";

/** A row counts as found if it is right to this share of the ranges. */
const FOUND = 1e-6;

/** Rows that totals give away and that were not known before. */
export function totalsOutcome(
  attack: Attack,
  totals: readonly GenerationTotals[],
  rows: readonly Matrix[],
  study: Study,
  known: Set<string>,
): Outcome {
  const errors = rowsMovedAlone(study, totals).flatMap((point) => {
    const { name, error } = nearestRow(point, rows, study.features);
    if (error > FOUND || known.has(name)) return [];
    known.add(name);
    return [error];
  });
  return { attack, rows: errors.length, ...(errors.length > 0 && { rowError: Math.min(...errors) }) };
}

function nearestRow(point: readonly number[], sets: readonly Matrix[], features: Study["features"]) {
  let [name, error] = ["", Number.POSITIVE_INFINITY];
  for (const { data, rows, cols } of sets) {
    for (let r = 0; r < rows; r++) {
      const own = features.map(({ min, max }, f) => Math.abs(data[r * cols + f] - point[f]) / (max - min));
      const most = Math.max(...own);
      if (most < error) [name, error] = [data.subarray(r * cols, (r + 1) * cols).join(" "), most];
    }
  }
  return { name, error };
}

/** Longer than a silent neighbour counts. */
const LONG_MILLISECONDS = 70_000;
export function sharedAttacks(scene: AttackScenario): Outcome[] {
  const { contract, datasets, apart, seed } = scene;
  const last = datasets.length - 1;
  const study = withoutLast(scene.study, last);
  const seen = observeBoards(study, contract, simulatedSecrets("observer"));
  const early: Uint8Array[] = [];
  const graph = complete(datasets.length);
  const network = simulate({
    study,
    contract,
    datasets,
    graph,
    seed,
    absent: [last],
    onEvent({ kind, from, to, frame }) {
      if (frame.length > 0) seen.see(frame);
      if (kind === "arrive" && from === 1 && to === 0 && early.length < 50) early.push(frame);
    },
  });
  const own = datasets[0];
  const withAdded = (first: number) => stack([takeRows(own, scenarioNumbers(first, own.rows)), takeRows(apart, [0])]);
  const changes: [Attack, () => void][] = [
    ["totals", () => {}],
    ["device joins", () => network.restart(last)],
    ["added row", () => network.setRows(0, withAdded(0))],
    ["deleted row", () => network.setRows(0, withAdded(1))],
    ["device leaves", () => network.crash(last)],
    [
      "restored backup",
      () => {
        network.crash(0);
        network.setRows(0, withAdded(2));
        network.restart(0);
      },
    ],
  ];
  const rows = [...datasets, apart];
  const outcomes: Outcome[] = [];
  const known = new Set<string>();
  for (const [attack, change] of changes) {
    change();
    network.run(LONG_MILLISECONDS);
    network.settle(LONG_MILLISECONDS);
    outcomes.push(totalsOutcome(attack, seen.sums(), rows, study, known));
  }
  outcomes.push(
    readBy("coalition", scenarioNumbers(1, datasets.length), seen, rows, scene),
    readBy("bystander", [1], seen, rows, scene),
  );
  outcomes.push(replayed(network, early), ...smallestClasses(network, datasets.length));
  return outcomes;
}

/** What these devices learn of device 0 alone, from the entries of all and the pads of their own links. */
function readBy(
  attack: Attack,
  members: readonly number[],
  seen: ReturnType<typeof observeBoards>,
  rows: readonly Matrix[],
  scene: AttackScenario,
): Outcome {
  const secrets = scene.datasets.map((_, i) => simulatedSecrets(`device-${i}`));
  const ids = secrets.map(({ key }) => idOf(key));
  const coalition = members.map((i) => secrets[i]);
  const nameOf = (id: string) => `device-${ids.indexOf(id)}`;
  const totals = seen.entries().flatMap(({ hash, content, entries }): GenerationTotals[] => {
    if (content?.stage !== stages.rows && content?.stage !== stages.release) return [];
    const learnt = coalitionSums(entries, hash, coalition, nameOf);
    const alone = learnt.find(({ devices }) => devices.length === 1 && devices[0] === ids[0]);
    return alone === undefined ? [] : [{ content, totals: fromInt64s(alone.words) }];
  });
  return bareOutcome(attack, totals, rows, scene.study);
}

/** What totals of one device alone give away: counts and sums of its clusters, as they are; private ones have its noise. */
export function bareOutcome(
  attack: Attack,
  totals: readonly GenerationTotals[],
  rows: readonly Matrix[],
  study: Study,
): Outcome {
  const outcome = totalsOutcome(attack, totals, rows, study, new Set());
  return totals.length > 0 && study.privacy !== "private" ? { ...outcome, groups: 0 } : outcome;
}

/** Whether frames of before count again. */
function replayed(network: Simulation, frames: readonly Uint8Array[]): Outcome {
  const before = network.status(0).shared?.generation;
  for (const frame of frames) {
    network.forge(1, 0, frame);
    network.run(100);
  }
  network.settle(LONG_MILLISECONDS);
  return { attack: "replay", rows: network.status(0).shared?.generation === before ? 0 : 1 };
}

/** Fewest rows of a device that nothing ever posted tells apart. */
function smallestClasses(network: Simulation, devices: number): Outcome[] {
  const smallest = Array.from({ length: devices - 1 }, (_, i) => network.status(i).guarded?.smallestClass ?? undefined);
  const known = smallest.filter((size) => size !== undefined);
  return known.length === 0 ? [] : [{ attack: "row space", smallestClass: Math.min(...known) }];
}

/** A private study is to release its rows before the last device comes. */
function withoutLast(study: Study, devices: number): Study {
  return study.devices === undefined ? study : { ...study, devices: Math.min(study.devices, devices) };
}
