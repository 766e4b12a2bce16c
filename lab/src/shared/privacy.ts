// What shared clusters give away: to coalitions, and to everybody from how totals change; open and guarded.

import { coalitionSums, type GenerationEntries, observeBoards, rowsMovedAlone } from "@fedkm/audit";
import {
  erdosRenyi,
  globalCentroidDeviation,
  kmeans,
  type Matrix,
  type PaperKind,
  paperData,
  randomStream,
  stack,
} from "@fedkm/core";
import { contractOf, type Study, studyOfPoints } from "@fedkm/device";
import { simulatedSecrets } from "@fedkm/device/inspect";
import { addInt64s, idOf } from "@fedkm/device/shared";
import { isHeld, print } from "../measure.ts";
import { median } from "../quality/problems.ts";
import { network, type SharedProblem, settledAt, sharedProblem } from "./sharedNetwork.ts";

// What guarding costs by how many rows a device has: where guarded networks end, against k-means on all rows together.

/** No rule was chosen by networks of these seeds. */
const FIRST_SEED = 5001;
const SIZES = [100, 200, 800];
/** A GCD at which one row of a thousand counts elsewhere. */
const NEAR = 1e-3;

export async function guardedByRows({ networks }: { networks: number }): Promise<boolean> {
  const table = [["data", "rows of each device", "networks", `at most ${NEAR}`, "median", "largest"]];
  const missed: string[] = [];
  for (const kind of ["var", "aniso"] as const) {
    for (const rows of SIZES) {
      const found: number[] = [];
      for (let seed = FIRST_SEED; found.length < networks; seed++) {
        const given = sharedProblem(kind, seed, "guarded", rows);
        const simulated = await network(given);
        settledAt(
          simulated,
          given.datasets.map((_, i) => i),
          60_000,
        );
        const pooled = kmeans(stack(given.datasets), { k: given.study.k, restarts: 10, seed: 1 }).centroids;
        found.push(globalCentroidDeviation(simulated.centroids(), pooled));
      }
      const near = found.filter((deviation) => deviation <= NEAR).length;
      const figures = [median(found), Math.max(...found)].map((value) => value.toExponential(1));
      table.push([kind, String(rows), String(networks), String(near), ...figures]);
      if (rows === Math.max(...SIZES) && near < networks) missed.push(`${kind}: ${near}`);
    }
  }
  print("Guarded networks of ten devices, minimum 10: GCD to k-means on all rows", table);
  return isHeld(`all at most ${NEAR} with ${Math.max(...SIZES)} rows of each device`, missed);
}

const kinds: readonly PaperKind[] = ["iso", "var", "aniso"];
const everyone = Array.from({ length: 10 }, (_, i) => i);

async function recorded(given: SharedProblem, isBare: boolean) {
  const seen = observeBoards(given.study, await contractOf(given.study), simulatedSecrets("observer"));
  const simulated = await network(given, { isBare, onEvent: ({ frame }) => frame.length > 0 && seen.see(frame) });
  const at = settledAt(simulated, everyone, 60_000);
  if (at === undefined) throw new Error(`devices must settle, those of seed ${given.seed} did not`);
  simulated.settle(10_000);
  return { seen, simulated };
}

/** A sparse network of small devices, in which coalitions do cut parts off. */
function sparse(seed: number): SharedProblem {
  const { datasets } = paperData("iso", 10, 20, seed);
  const study: Study = {
    ...studyOfPoints(datasets, ["x1", "x2"], { name: "sparse", alpha: 0 }),
    clusters: "shared",
    colluders: 1,
  };
  for (let n = 0; ; n++) {
    const graph = erdosRenyi(10, 0.3, randomStream(seed, "sparse", n));
    if (graph.neighbours.every(({ length }) => length >= 2)) return { study, datasets, graph, seed };
  }
}

/** Coalitions learn the sums over each part of the network that is connected without them, exactly, and nothing finer. */
export async function coalitions({ runs }: { runs: number }): Promise<boolean> {
  let right = 0;
  let parts = 0;
  for (let seed = 1; seed <= runs; seed++) {
    const given = sparse(seed);
    const [masked, bare] = [(await recorded(given, false)).seen, (await recorded(given, true)).seen];
    const random = randomStream(seed, "coalition");
    const size = 1 + Math.floor(7 * random());
    const members = new Set([...everyone].sort(() => random() - 0.5).slice(0, size));
    const found = learntBy(members, masked.entries(), bare.entries(), given);
    parts += found.parts;
    if (found.isRight) right++;
  }
  print("Coalitions of 1 to 7 of ten devices, exact elimination", [
    ["networks", "sums over whole parts, exactly, and nothing finer", "parts"],
    [String(runs), String(right), String(parts)],
  ]);
  return right === runs;
}

function learntBy(
  members: ReadonlySet<number>,
  masked: readonly GenerationEntries[],
  bare: readonly GenerationEntries[],
  { graph }: SharedProblem,
) {
  const names = everyone.map((i) => `device-${i}`);
  const secrets = names.map((name) => simulatedSecrets(name));
  const ids = secrets.map(({ key }) => idOf(key));
  const whole = masked.filter(({ entries }) => entries.length === everyone.length).at(-1);
  if (whole === undefined) throw new Error("a generation must have an entry of each device");
  // Masks are hashed too, so the same generation has another hash where there are none.
  const nameOfContent = ({ content }: GenerationEntries) => `${content?.stage} ${content?.numbers.join()}`;
  const same = bare.filter(
    (one) => one.entries.length === everyone.length && nameOfContent(one) === nameOfContent(whole),
  );
  const plain = same.at(-1)?.entries ?? [];
  const colluding = Array.from(members, (i) => secrets[i]);
  const learnt = coalitionSums(whole.entries, whole.hash, colluding, (id) => names[ids.indexOf(id)]);
  const nameOf = (devices: readonly string[]) => [...devices].sort().join();
  const wanted = partsWithout(members, graph.neighbours).map((part) => nameOf(part.map((i) => ids[i])));
  const isSame =
    wanted.sort().join(" ") ===
    learnt
      .map(({ devices }) => nameOf(devices))
      .sort()
      .join(" ");
  const isExact = learnt.every(({ devices, words }) => {
    const total = new Uint32Array(words.length);
    for (const entry of plain) if (devices.includes(entry.id)) addInt64s(total, entry.words);
    return total.join() === words.join();
  });
  return { isRight: isSame && isExact, parts: wanted.length };
}

function partsWithout(members: ReadonlySet<number>, neighbours: readonly ArrayLike<number>[]): number[][] {
  const left = new Set(everyone.filter((i) => !members.has(i)));
  const parts: number[][] = [];
  while (left.size > 0) {
    const part = new Set([[...left][0]]);
    for (const i of part) {
      left.delete(i);
      for (const j of Array.from(neighbours[i])) if (left.has(j)) part.add(j);
    }
    parts.push([...part]);
  }
  return parts;
}

/** Rows that anybody can read from how the totals change, and what guarding costs. */
export async function movingRecords({ runs }: { runs: number }): Promise<boolean> {
  const rows = [
    [
      "data",
      "mode",
      "networks",
      "with a row found",
      "rows held back",
      "GCD to pooled, median",
      "mean",
      "at most 1e-3",
      "largest",
      "GCD to the truth",
    ],
  ];
  let isGood = true;
  const open = { truth: 0, mean: 0 };
  for (const kind of kinds) {
    for (const privacy of ["open", "guarded"] as const) {
      const found = [];
      for (let seed = 1; seed <= Math.ceil(runs / kinds.length); seed++) found.push(await watched(kind, seed, privacy));
      const leaking = found.filter(({ isFound }) => isFound).length;
      const deviation = median(found.map(({ toPooled }) => toPooled));
      const mean = found.reduce((sum, { toPooled }) => sum + toPooled, 0) / found.length;
      const toTruth = median(found.map((one) => one.toTruth));
      if (privacy === "open") Object.assign(open, { truth: toTruth, mean });
      const held = found.reduce((sum, one) => sum + one.heldBack, 0) / found.reduce((sum, one) => sum + one.rows, 0);
      const most = Math.max(...found.map(({ toPooled }) => toPooled));
      const near = found.filter(({ toPooled }) => toPooled <= 1e-3).length;
      const [middle, average, ...figures] = [deviation, mean, most, toTruth].map((value) => value.toExponential(1));
      const counts = [String(found.length), String(leaking), `${(100 * held).toFixed(2)} %`];
      rows.push([kind, privacy, ...counts, middle, average, String(near), ...figures]);
      if (privacy === "guarded") {
        isGood &&= leaking === 0 && found.every(({ smallest }) => smallest >= 10);
        // In the mean, which a single network far off spoils, as well as in the median.
        isGood &&=
          kind === "var" ? Math.max(deviation, mean) <= 1e-3 : toTruth <= 2 * open.truth && mean <= 2 * open.mean;
      }
    }
  }
  print("Totals of shared clusters, ten devices of 100 rows, minimum 10: rows found from how they change", rows);
  return isGood;
}

async function watched(kind: PaperKind, seed: number, privacy: "open" | "guarded") {
  const given = sharedProblem(kind, seed, privacy);
  const { seen, simulated } = await recorded(given, false);
  const all = stack(given.datasets);
  const isRow = (point: readonly number[]) =>
    rowsOf(all).some((row) => row.every((value, i) => Math.abs(value - point[i]) < 1e-6));
  const statuses = everyone.map((i) => simulated.status(i));
  const [own] = simulated.centroids();
  const pooled = kmeans(all, { k: 3, restarts: 10, seed: 1 }).centroids;
  const deviation = (reference: Matrix) => globalCentroidDeviation([own], reference);
  return {
    isFound: rowsMovedAlone(given.study, seen.sums()).some(isRow),
    rows: all.rows,
    heldBack: statuses.reduce((sum, { guarded }) => sum + (guarded?.rowsHeldBack ?? 0), 0),
    smallest: Math.min(...statuses.map(({ guarded }) => guarded?.smallestClass ?? Number.POSITIVE_INFINITY)),
    toPooled: deviation(pooled),
    // Where ten times as many rows of the same clusters lead.
    toTruth: deviation(kmeans(stack(paperData(kind, 10, 1_000, seed).datasets), { k: 3, init: pooled }).centroids),
  };
}

function rowsOf({ data, rows, cols }: Matrix): Float64Array[] {
  return Array.from({ length: rows }, (_, r) => data.subarray(r * cols, (r + 1) * cols));
}
