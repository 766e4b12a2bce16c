// npm run lab -- integrity [PART...] [--short]: members that lie about shared clusters. One of ten devices does all that it
// should and sends forged frames besides, one or three a second; then the others unlink it. Exit 1 if a bar is missed.

import { type ForgeryKind, forger, forgeryKinds } from "@fedkm/audit";
import type { Matrix, PaperKind } from "@fedkm/core";
import { contractOf, type Simulation, type Study } from "@fedkm/device";
import { simulatedSecrets } from "@fedkm/device/inspect";
import { idOf } from "@fedkm/device/shared";
import { print } from "../measure.ts";
import { sectionOf } from "../parts.ts";
import { judge, network, type SharedProblem, settledAt, sharedGraph, sharedProblem } from "../shared/sharedNetwork.ts";

export const run = sectionOf({
  forged: (isShort) => forged({ networks: isShort ? 22 : 1_000 }),
});

const LIAR = 0;
const others = Array.from({ length: 9 }, (_, i) => i + 1);
const ATTACK_MILLISECONDS = 20_000;
/** Where the sequences of the liar's frames are, in the head of every frame. */
const SEQUENCE_AT = 36;

interface Forged {
  readonly isMoved: boolean;
  /** How long after the first forged frame the last of its neighbours named it; undefined: one never did. */
  readonly namedAfter: number | undefined;
  readonly isCured: boolean;
  readonly isSameBits: boolean;
}

async function attack(kind: ForgeryKind, given: SharedProblem, perSecond: number): Promise<Forged> {
  const contract = await contractOf(given.study);
  const secrets = simulatedSecrets(`device-${LIAR}`);
  const invented = Array.from({ length: 5 }, (_, n) => ({ peer: `no-${n}`, secrets: simulatedSecrets(`no-${n}`) }));
  const liar = forger(kind, { ...given, contract, secrets, victim: simulatedSecrets("device-1"), invented });
  let sequence = 0;
  let epoch = 1;
  const simulated = await network(given, {
    weather: { loss: 0.1 },
    onEvent: ({ kind, to, frame }) => kind === "arrive" && to === LIAR && liar.hear(frame),
    disguise: (device, frame) => (device === LIAR ? stamped(frame, epoch, ++sequence) : frame),
  });
  settledAt(simulated, [LIAR, ...others], 60_000);
  simulated.settle(10_000);
  const near = Array.from(given.graph.neighbours[LIAR]);
  const named = new Map<number, number>();
  const id = idOf(secrets.key);
  let isMoved = false;
  for (let at = 0; at < ATTACK_MILLISECONDS; at += 1000 / perSecond) {
    if (kind === "epochs") epoch++;
    for (const to of near) simulated.forge(LIAR, to, liar.frame({ epoch, sequence: ++sequence }));
    simulated.run(1000 / perSecond);
    for (const i of near) if (isNamed(simulated, i, id) && !named.has(i)) named.set(i, at + 1000 / perSecond);
    isMoved ||= !others.every((i) => isHonest(simulated, i, given));
  }
  for (const i of others)
    simulated.setLinks(
      i,
      Array.from(given.graph.neighbours[i]).filter((j) => j !== LIAR),
    );
  simulated.setLinks(LIAR, []);
  simulated.run(70_000);
  const at = settledAt(simulated, others, 300_000);
  const answers = simulated.centroids().slice(1);
  const { isSame, step } = judge(answers, given.datasets.slice(1));
  const without = await withoutLiar(given);
  return {
    isMoved,
    namedAfter: near.every((i) => named.has(i)) ? Math.max(...named.values()) : undefined,
    isCured: at !== undefined && isSame && step < 1e-9,
    isSameBits: isSame && answers[0].data.every((value, i) => value === without.data[i]),
  };
}

function stamped(frame: Uint8Array, epoch: number, sequence: number): Uint8Array {
  const copy = frame.slice();
  const view = new DataView(copy.buffer);
  view.setUint32(SEQUENCE_AT, sequence, true);
  view.setUint32(SEQUENCE_AT - 8, epoch, true);
  return copy;
}

function isNamed(simulated: Simulation, i: number, id: string): boolean {
  const { neighbours, shared } = simulated.status(i);
  const { fault, conflict, framesRefused } = neighbours.find(({ peer }) => peer === `device-${LIAR}`) ?? {};
  const isRefused = Object.keys(framesRefused ?? {}).length > 0;
  return fault != null || conflict != null || isRefused || shared?.removed.some(({ device }) => device === id) === true;
}

/** Its centroids are where a step of k-means moves nothing, on the rows of all, or of all but the liar. */
function isHonest(simulated: Simulation, i: number, { datasets, study }: SharedProblem): boolean {
  const { centroids } = simulated.status(i);
  if (centroids === null) return false;
  const answer = scaled(centroids, study);
  return [datasets, datasets.slice(1)].some((rows) => judge([answer], rows).step < 1e-9);
}

function scaled(rows: readonly (readonly number[])[], { features }: Study): Matrix {
  const data = Float64Array.from(rows.flatMap((row) => row.map((value, f) => value / features[f].scale)));
  return { data, rows: rows.length, cols: features.length };
}

async function withoutLiar(given: SharedProblem): Promise<Matrix> {
  const links = Array.from(given.graph.neighbours, (near, i) =>
    i === LIAR ? [] : Array.from(near).filter((j) => j !== LIAR),
  );
  const simulated = await network(given, { links, absent: [LIAR], weather: { loss: 0.1 } });
  settledAt(simulated, others, 200_000);
  return simulated.centroids()[1];
}

/** Of networks in which all others have links enough when the liar has gone. */
function usableSeeds(many: number): number[] {
  const found: number[] = [];
  for (let seed = 1_001; found.length < many; seed++) {
    const { neighbours } = sharedGraph(seed);
    const left = others.map((i) => Array.from(neighbours[i]).filter((j) => j !== LIAR).length);
    if (neighbours[LIAR].length > 1 && Math.min(...left) > 1) found.push(seed);
  }
  return found;
}

async function forged({ networks }: { networks: number }): Promise<boolean> {
  const rows = [["forged", "networks", "answers moved", "named within 10 s", "cured by unlinking", "same bits"]];
  const kinds: readonly PaperKind[] = ["iso", "var", "aniso"];
  let isGood = true;
  const many = Math.ceil(networks / forgeryKinds.length);
  const seeds = usableSeeds(many);
  for (const kind of forgeryKinds) {
    const found: Forged[] = [];
    for (let n = 0; n < many; n++) {
      found.push(await attack(kind, sharedProblem(kinds[n % 3], seeds[n]), n % 2 === 0 ? 1 : 3));
    }
    const count = (isTrue: (one: Forged) => boolean) => found.filter(isTrue).length;
    const [moved, cured] = [count(({ isMoved }) => isMoved), count(({ isCured }) => isCured)];
    const named = count(({ namedAfter }) => namedAfter !== undefined && namedAfter <= 10_000);
    const same = count(({ isSameBits }) => isSameBits);
    isGood &&= moved === 0 && named === many && cured === many && same === many;
    rows.push([kind, ...[many, moved, named, cured, same].map(String)]);
  }
  print("One of ten members forges, 10 % of frames lost, 20 s", rows);
  return isGood;
}
