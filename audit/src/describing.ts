// Attacks on the describing of an open study: all neighbours together take their pads off what device 0 added, and compare it over
// time. A count of fewer rows than the minimum, or a difference of fewer, is a row that was found.

import { complete, stack, takeRows } from "@fedkm/core";
import { contractOf, parseStudy, simulate } from "@fedkm/device";
import { simulatedSecrets } from "@fedkm/device/inspect";
import {
  afterDescription,
  type Content,
  fromInt64s,
  idOf,
  readDescription,
  stages,
  sumsShape,
} from "@fedkm/device/shared";
import { coalitionSums, observeBoards } from "./boards.ts";
import type { Outcome } from "./outcome.ts";
import { type AttackScenario, scenarioNumbers } from "./scenario.ts";
import { sharedAttacks } from "./sharedAttacks.ts";

/** Longer than a silent neighbour counts. */
const LONG_MILLISECONDS = 70_000;

/** And then those on the clusters of the closed study. */
export async function openStudyAttacks(scene: AttackScenario): Promise<Outcome[]> {
  const { outcomes, closed } = describingAttack(scene);
  if (closed == null) return outcomes;
  const study = parseStudy(closed);
  return [...outcomes, ...sharedAttacks({ ...scene, study, contract: await contractOf(study) })];
}

function describingAttack({ study, contract, datasets, apart, seed }: AttackScenario) {
  const last = datasets.length - 1;
  const seen = observeBoards(study, contract, simulatedSecrets("observer"));
  const onEvent = ({ frame }: { readonly frame: Uint8Array }) => {
    if (frame.length > 0) seen.see(frame);
  };
  const network = simulate({
    study,
    contract,
    datasets,
    graph: complete(datasets.length),
    seed,
    absent: [last],
    onEvent,
  });
  const own = datasets[0];
  const withAdded = (first: number) => stack([takeRows(own, scenarioNumbers(first, own.rows)), takeRows(apart, [0])]);
  const changes = [
    () => {},
    () => network.restart(last),
    () => network.setRows(0, withAdded(0)),
    () => {
      network.crash(0);
      network.setRows(0, withAdded(2));
      network.restart(0);
    },
    () => network.crash(last),
  ];
  for (const change of changes) {
    change();
    network.run(LONG_MILLISECONDS);
  }
  const secrets = datasets.map((_, i) => simulatedSecrets(`device-${i}`));
  const ids = secrets.map(({ key }) => idOf(key));
  const nameOf = (id: string) => `device-${ids.indexOf(id)}`;
  const learnt = seen.entries().flatMap(({ hash, content, entries }) => {
    if (content?.stage !== stages.describe) return [];
    const sums = coalitionSums(entries, hash, secrets.slice(1), nameOf);
    const alone = sums.find(({ devices }) => devices.length === 1 && devices[0] === ids[0]);
    return alone === undefined ? [] : [{ content, integers: fromInt64s(alone.words) }];
  });
  const counted = learnt.map(({ content, integers }) => countsIn(study, content, integers));
  const isFew = (rows: number) => rows > 0 && rows < Math.max(2, study.minimum);
  const found = new Set(
    counted.flatMap(({ grid, counts }) => counts.flatMap((rows, i) => (isFew(rows) ? [`${grid} ${i}`] : []))),
  );
  for (const { grid, counts } of counted)
    for (const other of counted.filter((one) => one.grid === grid))
      for (const [i, rows] of counts.entries()) if (isFew(Math.abs(rows - other.counts[i]))) found.add(`${grid} ${i}`);
  const outcome: Outcome = { attack: "describing", rows: found.size, ...(learnt.length > 0 && { groups: 0 }) };
  return { outcomes: [outcome], closed: network.status(0).shared?.described?.study };
}

/** How many rows of the device lie where, and of which cells: those of the first round are the same for everybody. */
function countsIn(study: AttackScenario["study"], content: Content, integers: Float64Array) {
  const plan = sumsShape(study).describing;
  if (content.steps === 0 || plan === undefined) return { grid: "octaves", counts: [...integers.subarray(1)] };
  const { numbers } = afterDescription(plan, content, integers);
  const cells = readDescription(plan, numbers).columns.flatMap((column) =>
    column.kind === "number" ? column.cells : [],
  );
  return { grid: content.numbers.join(" "), counts: cells };
}
