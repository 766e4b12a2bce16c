// The life of one attacked device in a simulated network: it starts, rows come and go, a neighbour joins and leaves.

import { complete, type Matrix, stack, takeRows } from "@fedkm/core";
import { simulate } from "../../device/src/simulation/simulate.ts";
import { scaleRows } from "../../device/src/study/units.ts";
import type { RecordedEvent } from "../../device/src/wire/recording.ts";
import { rowsInUse } from "./counted.ts";
import type { Attack } from "./outcome.ts";
import type { AttackScenario } from "./scenario.ts";

/** What happened to the attacked device, and when. */
interface LifePeriod {
  readonly until: number;
  readonly attack: Attack | undefined;
  /** Its rows by their numbers among all that it ever had. */
  readonly rows: readonly number[];
}

export interface AttackedLife {
  readonly self: string;
  readonly events: readonly RecordedEvent[];
  readonly periods: readonly LifePeriod[];
  /** All rows that the device ever had, in scaled units. */
  readonly points: Matrix;
  /** Where its rows are guarded: what it has in use, which is not always what it has. */
  readonly counted: ReturnType<typeof rowsInUse>;
}

/** A device has found its place among its neighbours after this time, and changes of one row or device after that. */
const FIRST_MILLISECONDS = 1_500;
const LATER_MILLISECONDS = 800;

export function simulateLife(scene: AttackScenario): AttackedLife {
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
  const first = Array.from({ length: own.rows }, (_, i) => i);
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
    for (const i of datasets.keys()) if (i < last) network.setLinks(i, others(i, last));
    network.crash(last);
    pass(LATER_MILLISECONDS, "device leaves", fewer);
  }
  const counted = rowsInUse(study, network.history(0));
  return { self: "device-0", events, periods, points: scaleRows(study, everything), counted };
}

const others = (i: number, size: number) => Array.from({ length: size }, (_, j) => j).filter((j) => j !== i);
