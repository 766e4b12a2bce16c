// Members that forge in networks of real processes over TCP: five devices as people run them, and a sixth that does all that
// it should and sends forged frames besides, one or three a second; then the owners of the others unlink it.

import { setTimeout as pause } from "node:timers/promises";
import { type Edge, erdosRenyi, graph, type Matrix, randomStream } from "@fedkm/core";
import { contractOf, createDevice, type PeerNetwork, realClock, volatileMemory } from "@fedkm/device";
import { readLinksFile, writeLinksFile } from "@fedkm/device/daemon";
import { createIdentity, type Identity, libp2pNetwork } from "@fedkm/device/libp2p";
import { idOf, nodeSecrets } from "@fedkm/device/shared";
import { areSettled, inSeconds, makeFolders, type RunningDevice, seconds, startDevice } from "../faults/processes.ts";
import { print } from "../measure.ts";
import { type SharedProblem, sharedProblem } from "../shared/sharedNetwork.ts";
import {
  answerIn,
  fixedPoints,
  isEqual,
  isNamedIn,
  LIAR,
  linksWithoutLiar,
  Naming,
  stamped,
} from "./forgedNetworks.ts";
import { type ForgeryKind, forger, forgeryKinds } from "./forgeries.ts";

const DEVICES = 6;
const ATTACK_SECONDS = 12;
const NAMED_SECONDS = 10;
/** A neighbour to which it has not lied by then has nothing to say. */
const LONGEST_ATTACK_SECONDS = 40;
/** The answer is looked at again so long after all have settled. */
const AFTER_SECONDS = 5;
/** So many networks run at the same time. */
const AT_ONCE = 2;

interface Attacked {
  readonly kind: ForgeryKind;
  readonly isMoved: boolean;
  /** Infinity: one of its neighbours has not named it. */
  readonly namedAfter: number;
  /** Seconds after unlinking until all others rest. */
  readonly settledAfter: number;
  /** Whether it is that of the same devices when they are started without the liar, to the bit. */
  readonly isSameBits: boolean;
}

function smallProblem(seed: number): SharedProblem {
  const { study, datasets } = sharedProblem((["iso", "var", "aniso"] as const)[seed % 3], seed);
  for (let draw = 0; ; draw++) {
    const graph = erdosRenyi(DEVICES, 0.8, randomStream(seed, `graph ${draw}`));
    const left = graph.neighbours.slice(1).map((near) => near.filter((i) => i !== LIAR).length);
    if (graph.neighbours[LIAR].length > 1 && Math.min(...left) > 1)
      return { study, datasets: datasets.slice(0, DEVICES), graph, seed };
  }
}

/** What the others find where the liar never was: the same keys and rows, in folders of their own. */
async function answerWithoutLiar(given: SharedProblem, identities: readonly Identity[]): Promise<Matrix> {
  const edges = linksWithoutLiar(given).flatMap((near, i) => near.flatMap((j): Edge[] => (i < j ? [[i, j]] : [])));
  const folders = await makeFolders({ ...given, graph: graph(DEVICES, edges) }, { identities });
  const devices = folders.devices.slice(1).map((folder) => startDevice(folder));
  try {
    if (!Number.isFinite(await seconds(() => areSettled(devices))))
      throw new Error(`seed ${given.seed}: the network without the liar did not settle`);
    const [answer, ...rest] = devices.map((one) => answerOfProcess(one, given));
    if (!rest.every((one) => isEqual(one, answer))) throw new Error(`seed ${given.seed}: honest devices differ`);
    return answer;
  } finally {
    await Promise.all(devices.map((one) => one.end("SIGTERM")));
    folders.remove();
  }
}

async function attackProcesses(kind: ForgeryKind, seed: number, perSecond: number): Promise<Attacked> {
  const plain = smallProblem(seed);
  const identities = await Promise.all(Array.from({ length: DEVICES }, createIdentity));
  const founders = identities.map(({ peer }) => peer).sort();
  const isFounded = kind === "statement of another";
  const given = { ...plain, study: { ...plain.study, ...(isFounded && { founders, vouchers: 2 }) } };
  const withoutLiar = await answerWithoutLiar(given, identities);
  const isFixedPoint = fixedPoints(given);
  const folders = await makeFolders(given, { identities });
  const others = folders.devices.slice(1).map((folder) => startDevice(folder));
  const [own] = folders.devices;
  const links = await readLinksFile(own.path);
  const secrets = nodeSecrets(identities[LIAR]);
  const victim = { peer: identities[1].peer, key: nodeSecrets(identities[1]).key };
  const invented = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const identity = await createIdentity();
      return { peer: identity.peer, secrets: nodeSecrets(identity) };
    }),
  );
  const contract = await contractOf(given.study);
  const liar = forger(kind, { ...given, contract, secrets, victim, invented });
  const network = libp2pNetwork({
    ...{ identity: own.identity, listen: own.listen, links, onStranger: () => {}, onRefuse: () => {} },
  });
  let [epoch, sequence] = [1, 0];
  const disguised: PeerNetwork = {
    ...network,
    self: own.identity.peer,
    start: (listener) =>
      network.start({
        ...listener,
        onConnect: (peer) => listener.onConnect(peer),
        onDisconnect: (peer) => listener.onDisconnect(peer),
        onFrame(peer, frame) {
          listener.onFrame(peer, frame);
          // Rubbish or of another kind: nothing to learn from.
          try {
            liar.hear(frame);
          } catch {}
        },
      }),
    send: (peer, frame) => network.send(peer, stamped(frame, epoch, ++sequence)),
    close: () => network.close(),
  };
  const near = links.map(({ peer }) => peer);
  const device = createDevice({
    ...{ study: given.study, contract, clock: realClock, memory: volatileMemory(1), rows: given.datasets[LIAR] },
    ...{ network: disguised, links: near, secrets },
  });
  try {
    await device.start();
    const settled = await seconds(() => areSettled(others) && device.status().phase === "settled");
    if (!Number.isFinite(settled))
      throw new Error(`${kind}, seed ${seed}: the network did not settle before the attack`);
    const naming = new Naming(near);
    let isMoved = false;
    const begun = performance.now();
    const now = () => (performance.now() - begun) / 1000;
    const isOver = () => now() >= LONGEST_ATTACK_SECONDS || naming.isOver(now(), NAMED_SECONDS);
    while (now() < ATTACK_SECONDS || !isOver()) {
      if (kind === "epochs") epoch++;
      for (const peer of near) {
        const { frame, isFalse } = liar.forge(peer, { epoch, sequence: ++sequence });
        network.send(peer, frame);
        if (isFalse) naming.noteLie(peer, now());
      }
      await pause(1000 / perSecond);
      for (const [i, one] of others.entries())
        if (isNamedBy(one, own.identity.peer, idOf(secrets.key)))
          naming.noteNamed(folders.devices[i + 1].identity.peer, now());
      isMoved ||= others.some((one) => !isFixedPoint(answerOfProcess(one, given)));
    }
    const namedAfter = naming.longest() ?? Number.POSITIVE_INFINITY;
    device.stop();
    await network.close();
    for (const { path } of folders.devices.slice(1)) {
      const kept = (await readLinksFile(path)).filter(({ peer }) => peer !== own.identity.peer);
      await writeLinksFile(path, kept);
    }
    const answers = () => others.map((one) => answerOfProcess(one, given));
    const isSameBits = () => answers().every((answer) => isEqual(answer, withoutLiar));
    // Owners unlink within seconds of each other, and each time all begin anew: what counts is where it ends.
    const settledAfter = await seconds(() => isSameBits() && areSettled(others));
    await pause(AFTER_SECONDS * 1000);
    return { kind, isMoved, namedAfter, settledAfter, isSameBits: isSameBits() };
  } finally {
    device.stop();
    await network.close();
    await Promise.all(others.map((one) => one.end("SIGTERM")));
    folders.remove();
  }
}

function isNamedBy(device: RunningDevice, peer: string, id: string): boolean {
  const status = device.status();
  if (status === undefined) return false;
  return isNamedIn(
    status.links.find((link) => link.peer === peer),
    status.device.shared,
    id,
  );
}

function answerOfProcess(device: RunningDevice, { study }: SharedProblem): Matrix {
  return answerIn(device.status()?.device.centroids ?? [], study);
}

/** One network for each kind of forgery; `from`: the first of them, where a run is made in pieces. */
export async function forgerProcesses({ networks, from = 0 }: { networks: number; from?: number }): Promise<boolean> {
  const jobs = forgeryKinds
    .map((kind, n) => ({ kind, seed: 5_001 + n, perSecond: n % 2 === 0 ? 1 : 3 }))
    .slice(from, from + networks);
  const attacked: Attacked[] = [];
  const work = async () => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift())
      attacked.push(await attackProcesses(job.kind, job.seed, job.perSecond));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const rows = [["forged", "answers moved", "named", "same bits after unlinking"]];
  for (const { kind, isMoved, namedAfter, settledAfter, isSameBits } of attacked)
    rows.push([kind, isMoved ? "yes" : "no", inSeconds(namedAfter), isSameBits ? inSeconds(settledAfter) : "no"]);
  print(`One of ${DEVICES} processes forges for ${ATTACK_SECONDS} s (bar: named within ${NAMED_SECONDS} s)`, rows);
  return attacked.every(({ isMoved, namedAfter, isSameBits }) => !isMoved && namedAfter <= NAMED_SECONDS && isSameBits);
}
