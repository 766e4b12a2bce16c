// What rubbish costs a device with shared clusters: the time of one frame of 1 MiB, of each kind that could be dear to read,
// and how much later a calm neighbour is heard while another one sends 20 of them a second over TCP.

import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { randomStream } from "@fedkm/core";
import { contractOf, createDevice, type NetworkListener, realClock, volatileMemory } from "@fedkm/device";
import { recordedNetwork, simulatedClock } from "@fedkm/device/inspect";
import { createIdentity, libp2pNetwork } from "@fedkm/device/libp2p";
import {
  type Base,
  type BoardMessage,
  decodeShared,
  encodeBoardMessage,
  nodeSecrets,
  sumsShape,
} from "@fedkm/device/shared";
import { print } from "../measure.ts";
import { sharedProblem } from "../shared/sharedNetwork.ts";

/** What a program that sends frames is told first. */
export interface SenderJob {
  readonly address: string;
  /** Of its own, in base 64. */
  readonly key: string;
  readonly role: "calm" | "rubbish";
  readonly shape: { readonly k: number; readonly d: number; readonly hash: string };
  /** Where in a frame it says when it was sent, in microseconds since 1970. */
  readonly epochAt: number;
}

/** Where a frame has its epoch. */
const EPOCH_AT = 28;

const FRAME_BYTES = 1 << 20;
const COST_MILLISECONDS = 20;
const DELAY_MILLISECONDS = 50;
const PER_SECOND = 20;
/** Of so many, the least counts: what else the machine does is no cost of a frame. */
const TIMES = 5;

const { study, datasets } = sharedProblem("iso", 1);
const contract = await contractOf(study);
const read = decodeShared(sumsShape(study));

const random = randomStream(1, "rubbish");
const randomBytes = (length: number) => Uint8Array.from({ length }, () => Math.floor(256 * random()));

/** As many badly signed entries as a frame holds, each with as many links as an entry may name. */
function badEntries(message: BoardMessage): BoardMessage["entries"] {
  const [HEAD, LINK, LINKS] = [42, 40, 256];
  const size = HEAD + LINK * LINKS + 8 * message.integers + 64;
  return Array.from({ length: Math.floor((FRAME_BYTES - 4_096) / size) }, () => {
    const body = randomBytes(size - 64);
    body.fill(0, 32, HEAD);
    new DataView(body.buffer).setUint16(40, LINKS, true);
    return { body, signature: randomBytes(64), seal: new Uint8Array(0) } as unknown as BoardMessage["entries"][number];
  });
}

/** What is sent, given what the device said at first. */
const rubbish: Record<string, (heard: BoardMessage, header: Uint8Array) => Uint8Array> = {
  "random bytes": () => randomBytes(FRAME_BYTES),
  "random after a right header": (_, header) => {
    const frame = randomBytes(FRAME_BYTES);
    frame.set(header.subarray(0, 142));
    return frame;
  },
  "65,535 entries": (_, header) => {
    const frame = randomBytes(FRAME_BYTES);
    frame.set(header.subarray(0, 142));
    frame.fill(255, 10, 12);
    return frame;
  },
  "badly signed entries": (heard) =>
    encodeBoardMessage(contract, { ...heard, base: undefined, entries: badEntries(heard), have: [] }),
  "a base that 60,000 have opened": (heard) => {
    const ids = Array.from({ length: 60_000 }, (_, n): [string, number] => [n.toString(16).padStart(32, "0"), 1]);
    const [parent, numbers] = [new Uint8Array(32), new Float64Array(contract.k * contract.d)];
    const head = { number: 9, stage: 4, steps: 0, rows: 100, seeded: 100, numbers, parent, board: parent } as const;
    const base: Base = { ...head, spent: new Map(ids), hash: parent };
    return encodeBoardMessage(contract, { ...heard, kind: "proof", base, have: [] });
  },
  "a study of 1 MiB": (_, header) => {
    const frame = new Uint8Array(FRAME_BYTES).fill("[".charCodeAt(0));
    frame.set(header.subarray(0, 44));
    frame[5] = 2;
    frame.fill(7, 12, 28);
    return frame;
  },
};

/** A device with one neighbour, which a test is, and what it said to it. */
async function aloneWith(): Promise<{
  hear: (frame: Uint8Array) => void;
  sent: Uint8Array[];
  fault: () => string | null;
}> {
  const [own, other] = [await createIdentity(), await createIdentity()];
  const clock = simulatedClock();
  const sent: Uint8Array[] = [];
  let listener: NetworkListener | undefined;
  const device = createDevice({
    ...{ study, contract, clock, memory: volatileMemory(1), links: [other.peer], rows: datasets[0] },
    secrets: nodeSecrets(own),
    network: {
      self: own.peer,
      start: async (given) => {
        listener = given;
      },
      send: (_, frame) => sent.push(frame),
      close: async () => {},
    },
  });
  await device.start();
  listener?.onConnect(other.peer);
  while (clock.step(1_000));
  return {
    hear: (frame) => listener?.onFrame(other.peer, frame),
    sent,
    fault: () => device.status().neighbours[0].fault,
  };
}

async function oneFrame(): Promise<boolean> {
  const rows = [["1 MiB of", "first frame", "the next", "named for"]];
  let isGood = true;
  for (const [name, make] of Object.entries(rubbish)) {
    let [first, next] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    let named: string | null = null;
    for (let turn = 0; turn < TIMES; turn++) {
      const { hear, sent, fault } = await aloneWith();
      const heard = read(contract, sent[0]);
      if (heard.kind !== "board") throw new Error(`a board must be heard first, got ${heard.kind}`);
      const frame = make({ ...heard, stamp: { epoch: 2, sequence: 1 } }, stampedHeader(sent[0]));
      first = Math.min(
        first,
        cpuMilliseconds(() => hear(frame)),
      );
      next = Math.min(
        next,
        cpuMilliseconds(() => hear(frame)),
      );
      named = fault();
    }
    const isStudy = name.startsWith("a study");
    isGood &&= first <= COST_MILLISECONDS && next <= COST_MILLISECONDS && (named !== null || isStudy);
    rows.push([name, `${first.toFixed(1)} ms`, `${next.toFixed(1)} ms`, named ?? "another study"]);
  }
  print(`One frame of rubbish (bar: ${COST_MILLISECONDS} ms, and one offence)`, rows);
  return isGood;
}

function stampedHeader(frame: Uint8Array): Uint8Array {
  const header = frame.slice(0, 142);
  new DataView(header.buffer).setUint32(EPOCH_AT, 2, true);
  return header;
}

function cpuMilliseconds(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Milliseconds that frames of a calm neighbour were under way. */
async function calmDelays(isFlooded: boolean, seconds: number) {
  const [own, calm, other] = [await createIdentity(), await createIdentity(), await createIdentity()];
  const links = [calm, other].map(({ peer }) => ({ peer, addresses: [] }));
  const refused: string[] = [];
  const network = libp2pNetwork({
    ...{ identity: own, listen: ["/ip4/127.0.0.1/tcp/0"], links, onStranger: () => {} },
    onRefuse: (_, reason) => refused.push(reason),
  });
  const delays: number[] = [];
  let rubbishFrames = 0;
  const watched = recordedNetwork(network, realClock, ({ kind, peer, frame }) => {
    if (kind !== "received") return;
    if (peer === other.peer) rubbishFrames++;
    const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
    const sentAt = Number(view.getBigUint64(EPOCH_AT, true)) / 1_000;
    if (peer === calm.peer) delays.push(performance.timeOrigin + performance.now() - sentAt);
  });
  const device = createDevice({
    ...{ study, contract, clock: realClock, memory: volatileMemory(1), rows: datasets[0] },
    ...{ network: watched, links: links.map(({ peer }) => peer), secrets: nodeSecrets(own) },
  });
  await device.start();
  const address = network.addresses()[0];
  const program = new URL("./rubbishSender.js", import.meta.url);
  const start = (key: Uint8Array, role: SenderJob["role"]) => {
    const child = fork(program);
    const header = Buffer.from(contract.hash).toString("base64");
    const shape = { k: contract.k, d: contract.d, hash: header };
    child.send({
      address,
      key: Buffer.from(key).toString("base64"),
      role,
      shape,
      epochAt: EPOCH_AT,
    } satisfies SenderJob);
    return child;
  };
  const children = [start(calm.key, "calm"), ...(isFlooded ? [start(other.key, "rubbish")] : [])];
  for (const child of children) await once(child, "message");
  await pause(500);
  delays.length = 0;
  await pause(1_000 * seconds);
  const fault = device.status().neighbours.find(({ peer }) => peer === other.peer)?.fault ?? null;
  const found = [...delays].sort((a, b) => a - b);
  for (const child of children) child.kill();
  device.stop();
  await network.close();
  return { delays: found, rubbishFrames, fault, refused };
}

const share = (sorted: readonly number[], part: number) => sorted[Math.floor(part * (sorted.length - 1))] ?? Number.NaN;

async function flooded(seconds: number): Promise<boolean> {
  const before = await calmDelays(false, seconds);
  const during = await calmDelays(true, seconds);
  const added = share(during.delays, 0.95) - share(before.delays, 0.95);
  const cells = (found: readonly number[]) => [0.5, 0.95, 1].map((part) => `${share(found, part).toFixed(1)} ms`);
  print(
    `A calm neighbour while another sends ${PER_SECOND} frames of 1 MiB a second (bar: ${DELAY_MILLISECONDS} ms more)`,
    [
      ["", "frames of it", "median delay", "95 %", "longest", "rubbish taken", "named for"],
      ["nobody floods", String(before.delays.length), ...cells(before.delays), "0", ""],
      [
        ...["flooded", String(during.delays.length), ...cells(during.delays)],
        ...[String(during.rubbishFrames), during.refused[0] ?? during.fault ?? "nothing"],
      ],
    ],
  );
  return added <= DELAY_MILLISECONDS && (during.fault !== null || during.refused.length > 0);
}

export async function frameCosts({ seconds }: { seconds: number }): Promise<boolean> {
  const isCheap = await oneFrame();
  const isCalm = await flooded(seconds);
  return isCheap && isCalm;
}
