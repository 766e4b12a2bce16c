// What a member can claim: within its limit the answer moves by no more than its rows could; beyond, its books name it;
// and honest devices are never accused, however different their rows are.

import {
  distortion,
  kmeans,
  type Matrix,
  type PaperKind,
  splitByLabel,
  splitBySizes,
  stack,
  takeRows,
} from "@fedkm/core";
import { type Simulation, type Study, studyOfPoints } from "@fedkm/device";
import { simulatedSecrets } from "@fedkm/device/inspect";
import { idOf, sumsShape } from "@fedkm/device/shared";
import { print } from "../measure.ts";
import { blobs } from "../quality/hard.ts";
import { type ClaimKind, claimKinds, claimsWithin, movementOfBound, withClaims } from "./claims.ts";
import { judge, network, type SharedProblem, settledAt, sharedGraph, sharedProblem } from "./sharedNetwork.ts";

const LIAR = 0;
const LIAR_ROWS = 97;
const others = Array.from({ length: 9 }, (_, i) => i + 1);
const kinds: readonly PaperKind[] = ["iso", "var", "aniso"];
const MOST_ROWS = 120;
/** Centroids lie on a grid. */
const ROUNDING = 1e-6;

const isWithin = (kind: ClaimKind) => claimsWithin.some((one) => one === kind);

interface Claimed {
  readonly isSettled: boolean;
  /** By all others, and for what it did. */
  readonly isNamed: boolean;
  readonly isOtherNamed: boolean;
  /** A share of the bound; of a liar that is left out 0. */
  readonly movement: number;
  /** What the answer costs honest rows, over what it would if its rows really lay in the worst corner. */
  readonly cost: number;
  /** Those who remain have the answer of a network without it. */
  readonly isCured: boolean;
}

function withLiar(seed: number, privacy: "open" | "guarded"): SharedProblem {
  const given = sharedProblem(kinds[seed % 3], seed, privacy);
  const rows = Array.from({ length: LIAR_ROWS }, (_, i) => i);
  const datasets = given.datasets.map((own, i) => (i === LIAR ? takeRows(own, rows) : own));
  return { ...given, datasets, study: { ...given.study, mostRows: MOST_ROWS, books: "agreed" } };
}

async function claim(kind: ClaimKind, seed: number, privacy: "open" | "guarded"): Promise<Claimed> {
  const given = withLiar(seed, privacy);
  const id = idOf(simulatedSecrets(`device-${LIAR}`).key);
  const said = { kind, liarRows: LIAR_ROWS, mostRows: MOST_ROWS };
  let simulated: Simulation | undefined;
  let isSettled = false;
  const added = await withClaims(sumsShape(given.study), said, async () => {
    simulated = await network(given, { weather: { loss: 0.1 } });
    isSettled = settledAt(simulated, others, 300_000) !== undefined;
    // What no total shows is seen when owners ask.
    if (!isWithin(kind) && simulated.status(1).shared?.removed.length === 0)
      for (const i of [1, 2]) simulated.openBooks(i);
    simulated.run(3_000);
    isSettled &&= settledAt(simulated, others, 300_000) !== undefined;
  });
  if (simulated === undefined) throw new Error("a network must have run");
  const accused = others.map((i) => simulated?.status(i).shared?.removed.map(({ device }) => device) ?? []);
  const isNamed = accused.every((ids) => ids.includes(id));
  const answers = simulated.centroids().slice(1);
  const { isSame, step } = judge(answers, given.datasets.slice(1));
  return {
    isSettled,
    isNamed,
    isOtherNamed: accused.some((ids) => ids.some((one) => one !== id)),
    movement: isNamed ? 0 : movementOfBound(added, answers[0].data, MOST_ROWS),
    cost: isNamed ? 0 : honestCost(answers[0], given.datasets.slice(1)) / worstCost(given),
    isCured: isNamed && isSame && (privacy === "guarded" || step < 1e-9),
  };
}

const honestCost = (centroids: Matrix, datasets: readonly Matrix[]) =>
  distortion(
    datasets,
    datasets.map(() => centroids),
  );

/** Of k-means on the rows of the others and as many as the liar may hold in one corner, the costliest corner. */
function worstCost({ study, datasets }: SharedProblem): number {
  const honest = datasets.slice(1);
  const [x, y] = study.features;
  const corners = [x.min, x.max].flatMap((at) => [y.min, y.max].map((up) => [at / x.scale, up / y.scale]));
  const costs = corners.map((corner) => {
    const data = Float64Array.from({ length: 2 * MOST_ROWS }, (_, i) => corner[i % 2]);
    const pooled = stack([...honest, { data, rows: MOST_ROWS, cols: 2 }]);
    return honestCost(kmeans(pooled, { k: study.k, restarts: 10, seed: 1 }).centroids, honest);
  });
  return Math.max(...costs);
}

/** Of networks in which all others have links enough when the liar has gone. */
function usableSeeds(many: number): number[] {
  const found: number[] = [];
  for (let seed = 3_001; found.length < many; seed++) {
    const { neighbours } = sharedGraph(seed);
    const left = others.map((i) => Array.from(neighbours[i]).filter((j) => j !== LIAR).length);
    if (neighbours[LIAR].length > 1 && Math.min(...left) > 1) found.push(seed);
  }
  return found;
}

export async function claims({ networks }: { networks: number }): Promise<boolean> {
  const head = ["one of ten claims", "networks", "settled", "named", "another named", "cured", "of the bound", "cost"];
  const rows = [head];
  let isGood = true;
  const many = Math.ceil(networks / 2);
  const seeds = usableSeeds(many);
  const measure = async (name: string, kindOf: (n: number) => ClaimKind, privacy: "open" | "guarded") => {
    const found: Claimed[] = [];
    for (const [n, seed] of seeds.entries()) found.push(await claim(kindOf(n), seed, privacy));
    const count = (isTrue: (one: Claimed) => boolean) => found.filter(isTrue).length;
    const most = Math.max(...found.map(({ movement }) => movement));
    const [settled, named] = [count((one) => one.isSettled), count((one) => one.isNamed)];
    const [cured, wrong] = [count((one) => one.isCured), count((one) => one.isOtherNamed)];
    const isAllowed = isWithin(kindOf(0));
    isGood &&= settled === many && wrong === 0 && most <= 1 + ROUNDING && named === (isAllowed ? 0 : many);
    isGood &&= isAllowed || cured === many;
    const figures = [many, settled, named, wrong].map(String);
    const costs = found.map(({ cost }) => cost).sort((a, b) => a - b);
    const range = `${costs[Math.floor(many / 2)].toFixed(2)} (most ${costs[many - 1].toFixed(2)})`;
    rows.push([name, ...figures, ...(isAllowed ? ["-", most.toFixed(3), range] : [String(cured), "-", "-"])]);
  };
  for (const privacy of ["open", "guarded"] as const) {
    await measure(`within its limit, ${privacy}`, (n) => claimsWithin[n % claimsWithin.length], privacy);
    await measure(`beyond it, ${privacy}`, (n) => claimKinds[n % claimKinds.length], privacy);
  }
  print(`Rows that are not there, ${MOST_ROWS} allowed, 10 % of frames lost`, rows);
  return isGood;
}

type Skew = "labels" | "sizes 1:100";

/** Ten devices that hold few of 15 clusters each, with or without sizes that differ by 100 to 1. */
const sizes = [10, 20, 30, 50, 90, 150, 250, 400, 700, 1_000];

function skewed(skew: Skew, privacy: "open" | "guarded", seed: number): SharedProblem {
  const isByLabel = skew === "labels";
  const total = sizes.reduce((a, b) => a + b, 0);
  const { datasets } = isByLabel
    ? splitByLabel(blobs(15, 3_000, 0.6, 2, seed), 10, 0.2, seed)
    : splitBySizes(blobs(5, total, 0.6, 4, seed), sizes, seed);
  const choices = { k: isByLabel ? 15 : 5, alpha: 0, privacy, minimum: privacy === "open" ? 1 : 10 };
  const study = studyOfPoints(datasets, ["x1", "x2"], { name: `${skew} ${seed}`, ...choices });
  const mostRows = Math.max(...datasets.map(({ rows }) => rows));
  const shared: Study = { ...study, clusters: "shared", colluders: 1, mostRows, books: "agreed" };
  return { study: shared, datasets, graph: sharedGraph(seed), seed };
}

export async function honestSkew({ networks }: { networks: number }): Promise<boolean> {
  const rows = [["nobody lies", "networks", "settled", "somebody accused", "books opened", "a device doubts"]];
  let isGood = true;
  for (const skew of ["labels", "sizes 1:100"] as const) {
    for (const privacy of ["open", "guarded"] as const) {
      const many = Math.ceil(networks / 4);
      const found = { settled: 0, accused: 0, opened: 0, doubts: 0 };
      for (let n = 0, seed = 5_001; n < many; seed++) {
        if (sharedGraph(seed).neighbours.some(({ length }) => length < 2)) continue;
        n++;
        const simulated = await network(skewed(skew, privacy, seed), { weather: { loss: 0.1 } });
        const all = [LIAR, ...others];
        if (settledAt(simulated, all, 300_000) !== undefined) found.settled++;
        simulated.run(3_000);
        const shared = all.map((i) => simulated.status(i).shared);
        if (shared.some((one) => (one?.removed.length ?? 0) > 0)) found.accused++;
        if (shared.some((one) => one?.books != null)) found.opened++;
        if (shared.some((one) => (one?.doubts ?? 0) > 0)) found.doubts++;
      }
      isGood &&= found.settled === many && found.accused === 0;
      rows.push([
        `${skew}, ${privacy}`,
        ...[many, found.settled, found.accused, found.opened, found.doubts].map(String),
      ]);
    }
  }
  print("Honest devices with different rows, 10 % of frames lost", rows);
  return isGood;
}
