// Members that forge in networks of real processes over TCP: five devices as people run them, and a sixth that does all that
// it should and sends forged frames besides, one or three a second; then the owners of the others unlink it.

import { setTimeout as pause } from "node:timers/promises";
import { type ForgeryKind, forger, forgeryKinds } from "@fedkm/audit";
import { erdosRenyi, type Matrix, randomStream } from "@fedkm/core";
import { contractOf, createDevice, type PeerNetwork, realClock, volatileMemory } from "@fedkm/device";
import { readLinksFile, writeLinksFile } from "@fedkm/device/daemon";
import { createIdentity, libp2pNetwork } from "@fedkm/device/libp2p";
import { idOf, nodeSecrets } from "@fedkm/device/shared";
import { areSettled, inSeconds, makeFolders, type RunningDevice, seconds, startDevice } from "../faults/processes.ts";
import { print } from "../measure.ts";
import { type SharedProblem, sharedProblem } from "../shared/sharedNetwork.ts";
import { answerIn, honestNetwork, isEqual, isNamedIn, LIAR, stamped } from "./forgedNetworks.ts";

const DEVICES = 6;
const ATTACK_SECONDS = 12;
const NAMED_SECONDS = 10;
/** So many networks run at the same time. */
const AT_ONCE = 2;

interface Attacked {
  readonly kind: ForgeryKind;
  readonly isMoved: boolean;
  /** Infinity: one of its neighbours has not named it. */
  readonly namedAfter: number;
  /** Seconds after unlinking until all others have the answer of a network that never had it, to the bit. */
  readonly curedAfter: number;
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

async function attackProcesses(kind: ForgeryKind, seed: number, perSecond: number): Promise<Attacked> {
  const plain = smallProblem(seed);
  const identities = await Promise.all(Array.from({ length: DEVICES }, createIdentity));
  const founders = identities.map(({ peer }) => peer).sort();
  const isFounded = kind === "statement of another";
  const given = { ...plain, study: { ...plain.study, ...(isFounded && { founders, vouchers: 2 }) } };
  // What the answer is does not depend on keys, so that a simulation tells it.
  const honest = await honestNetwork(plain);
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
    const beside = others.filter((_, i) => near.includes(folders.devices[i + 1].identity.peer));
    let isMoved = false;
    let namedAfter = Number.POSITIVE_INFINITY;
    const begun = performance.now();
    for (let sent = 0; sent < ATTACK_SECONDS * perSecond; sent++) {
      if (kind === "epochs") epoch++;
      for (const peer of near) network.send(peer, liar.frame(peer, { epoch, sequence: ++sequence }));
      await pause(1000 / perSecond);
      const isNamed = beside.every((one) => isNamedBy(one, own.identity.peer, idOf(secrets.key)));
      if (isNamed) namedAfter = Math.min(namedAfter, (performance.now() - begun) / 1000);
      isMoved ||= others.some((one) => !honest.isFixedPoint(answerOfProcess(one, given)));
    }
    device.stop();
    await network.close();
    for (const { path } of folders.devices.slice(1)) {
      const kept = (await readLinksFile(path)).filter(({ peer }) => peer !== own.identity.peer);
      await writeLinksFile(path, kept);
    }
    const isCured = () => others.every((one) => isEqual(answerOfProcess(one, given), honest.withoutLiar));
    return { kind, isMoved, namedAfter, curedAfter: await seconds(() => isCured() && areSettled(others)) };
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

/** One network for each kind of forgery. */
export async function forgerProcesses({ networks }: { networks: number }): Promise<boolean> {
  const jobs = forgeryKinds
    .slice(0, networks)
    .map((kind, n) => ({ kind, seed: 5_001 + n, perSecond: n % 2 === 0 ? 1 : 3 }));
  const attacked: Attacked[] = [];
  const work = async () => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift())
      attacked.push(await attackProcesses(job.kind, job.seed, job.perSecond));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const rows = [["forged", "answers moved", "named", "same bits after unlinking"]];
  for (const { kind, isMoved, namedAfter, curedAfter } of attacked)
    rows.push([kind, isMoved ? "yes" : "no", inSeconds(namedAfter), inSeconds(curedAfter)]);
  print(`One of ${DEVICES} processes forges for ${ATTACK_SECONDS} s (bar: named within ${NAMED_SECONDS} s)`, rows);
  return attacked.every(
    ({ isMoved, namedAfter, curedAfter }) => !isMoved && namedAfter <= NAMED_SECONDS && Number.isFinite(curedAfter),
  );
}
