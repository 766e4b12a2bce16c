// Networks with shared clusters and every fault there is: the end must be exact, no pad may be used twice, and no
// centroids may be answered for two sets of devices.

import { type Matrix, type PaperKind, type Random, randomStream, takeRows } from "@fedkm/core";
import { contractOf, type Simulation } from "@fedkm/device";
import { seeBoards } from "@fedkm/device/audit";
import { print } from "../measure.ts";
import { judge, network, type SharedProblem, settledAt, sharedProblem } from "./setting.ts";

interface Scene {
  readonly simulated: Simulation;
  readonly given: SharedProblem;
  readonly random: Random;
  /** As they are at the end. */
  readonly datasets: SharedProblem["datasets"][number][];
  /** Who is there at the end. */
  readonly there: Set<number>;
}

const everyone = Array.from({ length: 10 }, (_, i) => i);
/** Longer than the time after which a silent neighbour does not count any more. */
const LONG_MILLISECONDS = 100_000;
const pick = (random: Random) => Math.floor(10 * random());
/** Half of the rows of another device: within the study's bounds for sure. */
function otherRows({ random, given }: Scene): Matrix {
  const rows = given.datasets[pick(random)];
  return takeRows(
    rows,
    Array.from({ length: rows.rows / 2 }, (_, r) => r + Math.floor((rows.rows / 2) * random())),
  );
}

const faults: Record<string, (scene: Scene) => void> = {
  "ten kills"({ simulated, random }) {
    for (let n = 0; n < 10; n++) {
      const i = pick(random);
      simulated.run(100 * random());
      simulated.crash(i);
      simulated.run(300 * random());
      simulated.restart(i);
    }
  },
  "all killed"({ simulated, random }) {
    simulated.run(400 * random());
    for (const i of everyone) simulated.crash(i);
    simulated.run(100);
    for (const i of everyone) simulated.restart(i);
  },
  "rows changed while down"(scene) {
    const { simulated, random, datasets } = scene;
    const i = pick(random);
    simulated.run(400 * random());
    simulated.crash(i);
    datasets[i] = otherRows(scene);
    simulated.setRows(i, datasets[i]);
    simulated.run(500 * random());
    simulated.restart(i);
  },
  "rows changed"(scene) {
    const { simulated, random, datasets } = scene;
    for (let n = 0; n < 3; n++) {
      const i = pick(random);
      simulated.run(300 * random());
      datasets[i] = otherRows(scene);
      simulated.setRows(i, datasets[i]);
    }
  },
  "cut for long"({ simulated, given, random }) {
    simulated.run(400 * random());
    const across = (isCut: boolean) => {
      for (const i of everyone)
        for (const j of given.graph.neighbours[i]) if (i < 5 && j >= 5) simulated.setCut(i, j, isCut);
    };
    across(true);
    simulated.run(LONG_MILLISECONDS);
    across(false);
  },
  leave({ simulated, given, random, there }) {
    simulated.run(400 * random());
    const leaver = mayLeave(given, random);
    if (leaver === undefined) return;
    there.delete(leaver);
    simulated.crash(leaver);
    simulated.run(LONG_MILLISECONDS);
  },
  join({ simulated, random }) {
    simulated.run(LONG_MILLISECONDS + 400 * random());
    simulated.restart(9);
  },
  "late by 20 rounds"({ simulated, random }) {
    simulated.weather.delayMilliseconds = [600, 600];
    simulated.run(2_000 * random());
  },
};

/** Somebody without whom all others still have two links. */
function mayLeave({ graph }: SharedProblem, random: Random): number | undefined {
  const first = pick(random);
  const isFree = (i: number) => Array.from(graph.neighbours[i]).every((j) => graph.neighbours[j].length > 2);
  return everyone.map((n) => (first + n) % 10).find(isFree);
}

async function run(name: string, kind: PaperKind, seed: number, isTree: boolean) {
  const plain = sharedProblem(kind, seed);
  const given: SharedProblem = isTree ? { ...plain, study: { ...plain.study, sums: "tree" } } : plain;
  const seen = seeBoards(given.study, await contractOf(given.study));
  const options = { weather: { loss: 0.3 }, ...(name === "join" && { absent: [9] }) };
  const simulated = await network(given, { ...options, onEvent: ({ frame }) => frame.length > 0 && seen.see(frame) });
  const scene = {
    simulated,
    given,
    random: randomStream(seed, name),
    datasets: [...given.datasets],
    there: new Set(everyone),
  };
  faults[name](scene);
  const there = [...scene.there];
  // Parts that have settled apart may not have met yet.
  simulated.run(1_000);
  const at = settledAt(simulated, there, 600_000);
  simulated.settle(120_000);
  const answers = simulated.centroids().filter((_, i) => scene.there.has(i));
  const rows = scene.datasets.filter((_, i) => scene.there.has(i));
  // Over a tree entries are sums of several devices, of which nobody can say whose they are.
  const twice = isTree ? { pads: 0, answers: 0 } : { pads: seen.padsTwice(), answers: seen.answersTwice() };
  return { at, ...twice, ...judge(answers, rows) };
}

/** `only`: the names of faults, instead of all. `isTree`: with sums over a tree. */
export async function sharedFaults({
  networks,
  only,
  isTree = false,
}: {
  networks: number;
  only?: readonly string[];
  isTree?: boolean;
}): Promise<boolean> {
  const rows = [["fault", "networks", "settled", "exact, same bits", "pads used twice", "answers twice"]];
  const kinds: readonly PaperKind[] = ["iso", "var", "aniso"];
  let isGood = true;
  const names = only ?? Object.keys(faults);
  for (const [n, name] of names.entries()) {
    const many = Math.ceil((networks - n) / names.length);
    const runs = [];
    for (let i = 0; i < many; i++) runs.push(await run(name, kinds[i % 3], 1 + i, isTree));
    const settled = runs.filter(({ at }) => at !== undefined).length;
    const exact = runs.filter(({ isSame, step }) => isSame && step < 1e-9).length;
    const pads = runs.reduce((sum, one) => sum + one.pads, 0);
    const answers = runs.reduce((sum, one) => sum + one.answers, 0);
    isGood &&= settled === many && exact === many && pads === 0 && answers === 0;
    const twice = isTree ? ["-", "-"] : [String(pads), String(answers)];
    rows.push([name, String(many), String(settled), String(exact), ...twice]);
  }
  print(`Shared clusters${isTree ? " over a tree" : ""} and faults: ten devices, 30 % of frames lost`, rows);
  return isGood;
}
