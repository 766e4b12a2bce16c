// Members that forge in simulated networks. One of ten devices does all that it should and sends forged frames besides, one
// or three a second; then the others unlink it.

import { type ForgeryKind, forger, forgeryKinds } from "@fedkm/audit";
import { type Matrix, type PaperKind, stack } from "@fedkm/core";
import { contractOf, type DeviceStatus, type NeighbourStatus, type Simulation, type Study } from "@fedkm/device";
import { simulatedSecrets } from "@fedkm/device/inspect";
import { idOf } from "@fedkm/device/shared";
import { print } from "../measure.ts";
import {
  network,
  pooledStep,
  type SharedProblem,
  settledAt,
  sharedGraph,
  sharedProblem,
} from "../shared/sharedNetwork.ts";

/** The device that forges. */
export const LIAR = 0;
const others = Array.from({ length: 9 }, (_, i) => i + 1);
const ATTACK_MILLISECONDS = 20_000;
const LOOK_MILLISECONDS = 200;
/** Where the sequences of the liar's frames are, in the head of every frame. */
const SEQUENCE_AT = 36;

interface Forged {
  readonly isMoved: boolean;
  /** How long after the first forged frame the last of its neighbours named it; undefined: one never did. */
  readonly namedAfter: number | undefined;
  readonly isCured: boolean;
  readonly isSameBits: boolean;
}

/** A network, and what is known of it whoever lies in it. */
interface Honest extends SharedProblem {
  readonly withoutLiar: Matrix;
  /** Whether a step of k-means moves nothing there, on the rows of all, or of all but the liar. */
  isFixedPoint(answer: Matrix): boolean;
}

async function attack(kind: ForgeryKind, given: Honest, perSecond: number): Promise<Forged> {
  const contract = await contractOf(given.study);
  const secrets = simulatedSecrets(`device-${LIAR}`);
  const victim = { peer: "device-1", key: simulatedSecrets("device-1").key };
  const invented = Array.from({ length: 5 }, (_, n) => ({ peer: `no-${n}`, secrets: simulatedSecrets(`no-${n}`) }));
  const liar = forger(kind, { ...given, contract, secrets, victim, invented });
  let sequence = 0;
  let epoch = 1;
  const simulated = await network(given, {
    weather: { loss: 0.1 },
    onEvent: ({ kind, to, frame }) => kind === "arrive" && to === LIAR && liar.hear(frame),
    disguise: (device, frame) => (device === LIAR ? stamped(frame, epoch, ++sequence) : frame),
  });
  settledAt(simulated, [LIAR, ...others], 60_000, LOOK_MILLISECONDS);
  simulated.run(1_000);
  const near = Array.from(given.graph.neighbours[LIAR]);
  const named = new Map<number, number>();
  const id = idOf(secrets.key);
  let isMoved = false;
  for (let at = 0; at < ATTACK_MILLISECONDS; at += 1000 / perSecond) {
    if (kind === "epochs") epoch++;
    for (const to of near) simulated.forge(LIAR, to, liar.frame(`device-${to}`, { epoch, sequence: ++sequence }));
    simulated.run(1000 / perSecond);
    for (const i of near) if (!named.has(i) && isNamed(simulated, i, id)) named.set(i, at + 1000 / perSecond);
    isMoved ||= !others.every((i) => given.isFixedPoint(answerIn(simulated.status(i).centroids ?? [], given.study)));
  }
  for (const i of others)
    simulated.setLinks(
      i,
      Array.from(given.graph.neighbours[i]).filter((j) => j !== LIAR),
    );
  simulated.setLinks(LIAR, []);
  simulated.run(70_000);
  const isSettled = settledAt(simulated, others, 300_000, LOOK_MILLISECONDS) !== undefined;
  const answers = simulated.centroids().slice(1);
  const isSame = answers.every((answer) => isEqual(answer, answers[0]));
  return {
    isMoved,
    namedAfter: near.every((i) => named.has(i)) ? Math.max(...named.values()) : undefined,
    isCured: isSettled && isSame && given.isFixedPoint(answers[0]),
    isSameBits: isSame && isEqual(answers[0], given.withoutLiar),
  };
}

export function isEqual(a: Matrix, b: Matrix): boolean {
  return a.data.length === b.data.length && a.data.every((value, i) => value === b.data[i]);
}

/** Under a later stamp, so that forged frames and true ones are of one sender. */
export function stamped(frame: Uint8Array, epoch: number, sequence: number): Uint8Array {
  const copy = frame.slice();
  const view = new DataView(copy.buffer);
  view.setUint32(SEQUENCE_AT, sequence, true);
  view.setUint32(SEQUENCE_AT - 8, epoch, true);
  return copy;
}

function isNamed(simulated: Simulation, i: number, id: string): boolean {
  const { neighbours, shared } = simulated.status(i);
  return isNamedIn(
    neighbours.find(({ peer }) => peer === `device-${LIAR}`),
    shared,
    id,
  );
}

/** Whether a device says of this neighbour that something is wrong with it, or has removed it. */
export function isNamedIn(link: NeighbourStatus | undefined, shared: DeviceStatus["shared"], id: string): boolean {
  const { fault, conflict, framesRefused } = link ?? {};
  const isRefused = Object.keys(framesRefused ?? {}).length > 0;
  return fault != null || conflict != null || isRefused || shared?.removed.some(({ device }) => device === id) === true;
}

/** In the units of the rows that the answer is held against. */
export function answerIn(centroids: readonly (readonly number[])[], { features }: Study): Matrix {
  const data = Float64Array.from(centroids.flatMap((row) => row.map((value, f) => value / features[f].scale)));
  return { data, rows: centroids.length, cols: features.length };
}

/** What is looked up again and again is computed once for each network, and for each answer in it. */
export async function honestNetwork(given: SharedProblem): Promise<Honest> {
  const all = stack(given.datasets);
  const rest = stack(given.datasets.slice(1));
  const looked = new Map<string, boolean>();
  return {
    ...given,
    withoutLiar: await withoutLiar(given),
    isFixedPoint(answer) {
      const name = answer.data.join(" ");
      const isFixed =
        looked.get(name) ?? (answer.rows > 0 && [all, rest].some((rows) => pooledStep(answer, rows) < 1e-9));
      looked.set(name, isFixed);
      return isFixed;
    },
  };
}

async function withoutLiar(given: SharedProblem): Promise<Matrix> {
  const links = Array.from(given.graph.neighbours, (near, i) =>
    i === LIAR ? [] : Array.from(near).filter((j) => j !== LIAR),
  );
  const simulated = await network(given, { links, absent: [LIAR], weather: { loss: 0.1 } });
  settledAt(simulated, Array.from(links.keys()).slice(1), 200_000, LOOK_MILLISECONDS);
  simulated.run(1_000);
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

export async function forgedNetworks({ networks }: { networks: number }): Promise<boolean> {
  const kinds: readonly PaperKind[] = ["iso", "var", "aniso"];
  const many = Math.ceil(networks / forgeryKinds.length);
  const found = new Map(forgeryKinds.map((kind): [ForgeryKind, Forged[]] => [kind, []]));
  for (const [n, seed] of usableSeeds(many).entries()) {
    const given = sharedProblem(kinds[n % 3], seed);
    const founders = given.datasets.map((_, i) => `device-${i}`).sort();
    // Who is a member can be said only in a study that has some.
    const founded = { ...given, study: { ...given.study, founders, vouchers: 2 } };
    const [open, withFounders] = [await honestNetwork(given), await honestNetwork(founded)];
    for (const [kind, list] of found)
      list.push(await attack(kind, kind === "statement of another" ? withFounders : open, n % 2 === 0 ? 1 : 3));
  }
  const rows = [["forged", "networks", "answers moved", "named within 10 s", "cured by unlinking", "same bits"]];
  let isGood = true;
  for (const [kind, list] of found) {
    const count = (isTrue: (one: Forged) => boolean) => list.filter(isTrue).length;
    const [moved, cured] = [count(({ isMoved }) => isMoved), count(({ isCured }) => isCured)];
    const named = count(({ namedAfter }) => namedAfter !== undefined && namedAfter <= 10_000);
    const same = count(({ isSameBits }) => isSameBits);
    isGood &&= moved === 0 && named === many && cured === many && same === many;
    rows.push([kind, ...[many, moved, named, cured, same].map(String)]);
  }
  print("One of ten members forges, 10 % of frames lost, 20 s", rows);
  return isGood;
}
