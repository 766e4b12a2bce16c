// Members that forge in simulated networks. One of ten devices does all that it should and sends forged frames besides, one
// or three a second; then the others unlink it.

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
import { type ForgeryKind, forger, forgeryKinds } from "./forgeries.ts";

/** The device that forges. */
export const LIAR = 0;
const others = Array.from({ length: 9 }, (_, i) => i + 1);
const ATTACK_MILLISECONDS = 20_000;
const NAMED_MILLISECONDS = 10_000;
/** A neighbour to which it has not lied by then has nothing to say. */
const LONGEST_ATTACK_MILLISECONDS = 60_000;
const LOOK_MILLISECONDS = 200;
/** Where the sequences of the liar's frames are, in the head of every frame. */
const SEQUENCE_AT = 36;

interface Forged {
  readonly isMoved: boolean;
  /** The longest that a neighbour was lied to until it named the liar; undefined: one never did. */
  readonly namedAfter: number | undefined;
  /** Some honest device said that another honest one does wrong. */
  readonly isOtherNamed: boolean;
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
  const naming = new Naming(near);
  const id = idOf(secrets.key);
  let [isMoved, isOtherNamed] = [false, false];
  const isOver = (at: number) => at >= LONGEST_ATTACK_MILLISECONDS || naming.isOver(at, NAMED_MILLISECONDS);
  for (let at = 0; at < ATTACK_MILLISECONDS || !isOver(at); at += 1000 / perSecond) {
    if (kind === "epochs") epoch++;
    for (const to of near) {
      const { frame, isFalse } = liar.forge(`device-${to}`, { epoch, sequence: ++sequence });
      simulated.forge(LIAR, to, frame);
      if (isFalse) naming.noteLie(to, at);
    }
    simulated.run(1000 / perSecond);
    for (const i of near) if (isNamed(simulated, i, LIAR, id)) naming.noteNamed(i, at + 1000 / perSecond);
    isOtherNamed ||= others.some((i) => others.some((j) => isNamed(simulated, i, j)));
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
    namedAfter: naming.longest(),
    isOtherNamed,
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

/** How long neighbours are lied to until they name the liar. */
export class Naming<Name> {
  readonly #lies = new Map<Name, number>();
  readonly #named = new Map<Name, number>();
  readonly #near: readonly Name[];

  constructor(near: readonly Name[]) {
    this.#near = near;
  }

  noteLie(to: Name, at: number): void {
    if (!this.#lies.has(to)) this.#lies.set(to, at);
  }

  noteNamed(by: Name, at: number): void {
    if (!this.#named.has(by)) this.#named.set(by, at);
  }

  /** Whether everybody was lied to, and has named the liar or had so much time for it. */
  isOver(now: number, patience: number): boolean {
    const isDone = (name: Name) => this.#named.has(name) || now - (this.#lies.get(name) ?? now) > patience;
    return this.#near.every((name) => this.#lies.has(name) && isDone(name));
  }

  /** Undefined: somebody has not named it, or was never lied to. */
  longest(): number | undefined {
    const times = this.#near.map(
      (name) => (this.#named.get(name) ?? Number.NaN) - (this.#lies.get(name) ?? Number.NaN),
    );
    return times.some(Number.isNaN) ? undefined : Math.max(...times);
  }
}

function isNamed(simulated: Simulation, i: number, j: number, id?: string): boolean {
  const { neighbours, shared } = simulated.status(i);
  return isNamedIn(
    neighbours.find(({ peer }) => peer === `device-${j}`),
    shared,
    id,
  );
}

/** Whether a device says of this neighbour that something is wrong with it, or has removed it. */
export function isNamedIn(link: NeighbourStatus | undefined, shared: DeviceStatus["shared"], id?: string): boolean {
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
export function fixedPoints({ datasets }: SharedProblem): Honest["isFixedPoint"] {
  const all = stack(datasets);
  const rest = stack(datasets.slice(1));
  const looked = new Map<string, boolean>();
  return (answer) => {
    const name = answer.data.join(" ");
    const isFixed =
      looked.get(name) ?? (answer.rows > 0 && [all, rest].some((rows) => pooledStep(answer, rows) < 1e-9));
    looked.set(name, isFixed);
    return isFixed;
  };
}

async function honestNetwork(given: SharedProblem): Promise<Honest> {
  return { ...given, withoutLiar: await withoutLiar(given), isFixedPoint: fixedPoints(given) };
}

/** Whom each of the others is linked to. */
export function linksWithoutLiar({ graph }: SharedProblem): number[][] {
  return graph.neighbours.map((near, i) => (i === LIAR ? [] : Array.from(near).filter((j) => j !== LIAR)));
}

async function withoutLiar(given: SharedProblem): Promise<Matrix> {
  const links = linksWithoutLiar(given);
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

interface ForgedRun {
  readonly networks: number;
  /** The same networks for each kind, so that a long run can be made in pieces. */
  readonly forged?: readonly ForgeryKind[];
}

export async function forgedNetworks({ networks, forged = forgeryKinds }: ForgedRun): Promise<boolean> {
  const kinds: readonly PaperKind[] = ["iso", "var", "aniso"];
  const many = Math.ceil(networks / forgeryKinds.length);
  const found = new Map(forged.map((kind): [ForgeryKind, Forged[]] => [kind, []]));
  for (const [n, seed] of usableSeeds(many).entries()) {
    const given = sharedProblem(kinds[n % 3], seed);
    const founders = given.datasets.map((_, i) => `device-${i}`).sort();
    // Who is a member can be said only in a study that has some.
    const founded = { ...given, study: { ...given.study, founders, vouchers: 2 } };
    const open = await honestNetwork(given);
    for (const [kind, list] of found) {
      const honest = kind === "statement of another" ? await honestNetwork(founded) : open;
      list.push(await attack(kind, honest, n % 2 === 0 ? 1 : 3));
    }
  }
  const heads = ["named within 10 s", "longest", "others named", "cured by unlinking", "same bits"];
  const rows = [["forged", "networks", "answers moved", ...heads]];
  let isGood = true;
  for (const [kind, list] of found) {
    const count = (isTrue: (one: Forged) => boolean) => list.filter(isTrue).length;
    const [moved, cured] = [count(({ isMoved }) => isMoved), count(({ isCured }) => isCured)];
    const named = count(({ namedAfter }) => namedAfter !== undefined && namedAfter <= NAMED_MILLISECONDS);
    const longest = Math.max(...list.map(({ namedAfter = Number.POSITIVE_INFINITY }) => namedAfter));
    const wrong = count(({ isOtherNamed }) => isOtherNamed);
    const same = count(({ isSameBits }) => isSameBits);
    isGood &&= moved === 0 && named === many && wrong === 0 && cured === many && same === many;
    rows.push([kind, String(many), String(moved), String(named), `${(longest / 1_000).toFixed(1)} s`]);
    rows.at(-1)?.push(...[wrong, cured, same].map(String));
  }
  print("One of ten members forges, 10 % of frames lost, 20 s", rows);
  return isGood;
}
