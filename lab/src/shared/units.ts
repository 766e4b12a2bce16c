// Wrong units in open studies: how often a device whose column is wrong by a factor of ten or more learns it by name before anybody
// approves, and how often an honest one is told so. Columns of real tables, and made ones of usual kinds.

import { spawnSync } from "node:child_process";
import { normalStream, type Random, randomStream } from "@fedkm/core";
import { type Study, simulateDescription } from "@fedkm/device";
import { isHeld, print } from "../measure.ts";
import { findPython } from "../python.ts";

const DEVICES = 5;
const ROWS = 120;
/** Columns of one network. */
const COLUMNS = 30;
const FIRST_SEED = 4_000;
const LEAST_NAMED = 0.9;
const FACTORS = [10, 100, 1_000, 0.1, 0.01, 0.001];

interface Column {
  readonly kind: string;
  readonly values: readonly number[];
}

/** What people measure: a draw of one value each, for parameters that are drawn first. */
const kinds: Readonly<Record<string, (random: Random, normal: () => number) => () => number>> = {
  "around a mean": (random, normal) => {
    const [mean, spread] = [10 ** (4 * random() - 1), 0.05 + 0.3 * random()];
    return () => mean * (1 + spread * normal());
  },
  skewed: (random, normal) => {
    const [middle, spread] = [10 ** (4 * random() - 1), 0.2 + 0.8 * random()];
    return () => middle * Math.exp(spread * normal());
  },
  "over decades": (random, normal) => {
    const [middle, spread] = [10 ** (4 * random() - 1), 1.2 + 1.2 * random()];
    return () => middle * Math.exp(spread * normal());
  },
  even: (random) => {
    const [least, width] = [10 ** (3 * random()), 1 + 3 * random()];
    return () => least * (1 + width * random());
  },
  "whole numbers": (random, normal) => {
    const mean = 20 + 60 * random();
    return () => Math.max(0, Math.round(mean + 0.25 * mean * normal()));
  },
  "two groups": (random, normal) => {
    const [low, ratio] = [10 ** (2 * random()), 1.5 + 2 * random()];
    return () => low * (random() < 0.4 ? ratio : 1) * (1 + 0.1 * normal());
  },
};

function madeColumn(seed: number, n: number): Column {
  const random = randomStream(seed, "column", n);
  const names = Object.keys(kinds);
  const kind = names[n % names.length];
  const draw = kinds[kind](random, normalStream(random));
  return { kind, values: Array.from({ length: DEVICES * ROWS }, draw) };
}

/** As they stand in the tables that scikit-learn brings: flowers, wines, tumours. */
function realColumns(): Column[] {
  const { command, modules } = findPython();
  if (!modules.has("sklearn")) throw new Error("scikit-learn must be there for this part, install python3-sklearn");
  const program = `import json
from sklearn.datasets import *
for name, table in [("iris", load_iris()), ("wine", load_wine()), ("breast cancer", load_breast_cancer())]:
  for column in table.data.T.tolist(): print(json.dumps({"kind": name, "values": column}))`;
  const { stdout } = spawnSync(command, ["-c", program], { encoding: "utf8", maxBuffer: 2 ** 28 });
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Of each device, what its owner is told of columns that are unlike all others. */
async function remarksIn(
  columns: readonly Column[],
  privacy: Study["privacy"],
  factorOf: (c: number) => number,
  seed: number,
) {
  const study: Study = {
    ...{ name: "units", k: 2, alpha: 0, coupling: "nearest", weighting: "device", typicalRows: null },
    ...{ privacy, minimum: privacy === "open" ? 1 : 10, clusters: "shared", colluders: 1 },
    features: columns.map((_, c) => ({ name: `c${c}`, unit: "", min: 0, max: 1, scale: 1, open: "number" })),
  };
  const rows = Math.min(...columns.map(({ values }) => values.length));
  const random = randomStream(seed, "dealt");
  const order = Array.from({ length: rows }, (_, r) => ({ r, at: random() })).sort((a, b) => a.at - b.at);
  const tables = Array.from({ length: DEVICES }, (_, i) => {
    const own = order.filter((_, n) => n % DEVICES === i);
    const data = Float64Array.from(
      own.flatMap(({ r }) => columns.map(({ values }, c) => values[r] * (i === 0 ? factorOf(c) : 1))),
    );
    return { data, rows: own.length, cols: columns.length, words: columns.map(() => undefined) };
  });
  const names = tables.map((_, i) => `device ${i}`);
  const { described } = await simulateDescription(study, names, tables, seed);
  return described.map(({ remarks }) => remarks.filter((remark) => /differs here|looks /.test(remark)));
}

/** How a factor is called: the device's values are so many times too large. */
const nameOf = (factor: number) =>
  factor > 1 ? `looks ${factor} times too large` : `looks ${Math.round(1 / factor)} times too small`;

interface Tally {
  tried: number;
  named: number;
  differs: number;
}

export async function wrongUnits({ networks }: { readonly networks: number }): Promise<boolean> {
  const real = realColumns();
  const table = [["privacy", "columns", "wrong", "named rightly", 'only "differs"', "share"]];
  const missed: string[] = [];
  let [columnsChecked, falseAlarms, othersAlarmed] = [0, 0, 0];
  for (const privacy of ["open", "guarded"] as const) {
    const tallies = new Map<string, Tally>();
    const sets = Array.from({ length: networks }, (_, n) =>
      Array.from({ length: COLUMNS }, (_, c) => madeColumn(FIRST_SEED + n, c)),
    );
    const tables = [...new Set(real.map(({ kind }) => kind))].map((kind) =>
      real.filter((column) => column.kind === kind),
    );
    for (const [n, columns] of [...tables, ...sets].entries()) {
      const seed = FIRST_SEED + n;
      const honest = await remarksIn(columns, privacy, () => 1, seed);
      columnsChecked += columns.length;
      falseAlarms += honest.flat().length;
      const factorOf = (c: number) => FACTORS[(c + n) % FACTORS.length];
      const [own, ...others] = await remarksIn(columns, privacy, factorOf, seed);
      othersAlarmed += others.flat().length;
      for (const [c, { kind }] of columns.entries()) {
        const tally = tallies.get(kind) ?? { tried: 0, named: 0, differs: 0 };
        tallies.set(kind, tally);
        const said = own.find((remark) => remark.startsWith(`column "c${c}" `));
        tally.tried++;
        if (said?.includes(nameOf(factorOf(c)))) tally.named++;
        else if (said !== undefined) tally.differs++;
      }
    }
    const all = { tried: 0, named: 0, differs: 0 };
    for (const [kind, { tried, named, differs }] of tallies) {
      all.tried += tried;
      all.named += named;
      all.differs += differs;
      table.push([privacy, kind, String(tried), String(named), String(differs), (named / tried).toFixed(3)]);
    }
    const share = all.named / all.tried;
    table.push([privacy, "all", String(all.tried), String(all.named), String(all.differs), share.toFixed(3)]);
    if (share < LEAST_NAMED) missed.push(`${privacy}: ${share.toFixed(3)} named`);
  }
  print(`One of ${DEVICES} devices wrong by a factor of 10, 100 or 1,000`, table);
  console.log(
    `  even splits: ${columnsChecked} columns, ${falseAlarms} false alarms; ${othersAlarmed} remarks at devices whose neighbour is wrong`,
  );
  if (falseAlarms > 0) missed.push(`${falseAlarms} false alarms`);
  return isHeld(`at least ${100 * LEAST_NAMED} % named, no false alarm on even splits`, missed);
}
