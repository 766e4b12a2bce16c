// One device under attack as a process, over real TCP: strangers, floods, malformed frames, senders that stall.

import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { randomStream } from "@fedkm/core";
import { isSettled } from "@fedkm/device";
import type { DaemonStatus } from "@fedkm/device/daemon";
import { libp2pNetwork } from "@fedkm/device/libp2p";
import { privateKeyFromProtobuf } from "@libp2p/crypto/keys";
import type { Libp2p, Stream } from "@libp2p/interface";
import { print } from "../measure.ts";
import type { Crowd } from "./crowd.ts";
import { areSettled, processUse, settle } from "./processes.ts";
import { isLinked, leave, openStream, rogue, type Scene, scene } from "./tcpNetwork.ts";

// Floods, by a linked peer that breaks the rules of the stream and by many that keep to them.

/** A linked peer that sends 10,000 frames a second, and comes back whenever it is cut off. */
export async function flood({ seconds }: { seconds: number }): Promise<boolean> {
  const stage = await scene(1);
  const node = await rogue(privateKeyFromProtobuf(stage.guests[0].key));
  const frame = new Uint8Array(110);
  frame[0] = 109;
  let sent = 0;
  let streams = 0;
  const delays: number[] = [];
  const end = performance.now() + 1_000 * seconds;
  let stream: Stream | undefined;
  while (performance.now() < end) {
    if (stream === undefined || stream.status !== "open") {
      stream = await openStream(node, stage.address);
      if (stream !== undefined) streams += 1;
    }
    for (let n = 0; n < 100 && stream?.status === "open"; n++) {
      stream.send(frame);
      sent += 1;
    }
    const status = stage.victim.status();
    if (status !== undefined) delays.push(status.delayMilliseconds);
    await pause(10);
  }
  await node.stop();
  const linked = isLinked(stage);
  const isCalm = areSettled([stage.honest]);
  const kept = /kept away for a while: ([^"]*)"/.exec(stage.victim.log())?.[1] ?? "never";
  await leave(stage);
  const worst = Math.max(...delays);
  print(`Flood by a linked peer for ${seconds} s, 10,000 frames a second while it may`, [
    ["frames sent", "streams it got", "cut off because", "event delay p99, worst second", "honest link"],
    [String(sent), String(streams), kept, `${worst.toFixed(0)} ms`, linked && isCalm ? "unaffected" : "disturbed"],
  ]);
  return worst < 100 && linked && isCalm && streams > 0;
}

/** Linked peers, each within its rights, that together send 10,000 frames a second. Bars: 100 ms, 50 MB, 90 % of a calm one's frames. */
export async function crowdedFlood({ seconds, peers }: { seconds: number; peers: number }): Promise<boolean> {
  // And one that keeps moving, at a pace that a device has.
  const stage = await scene(1 + peers);
  const crowd = fork(new URL("./crowd.js", import.meta.url));
  const job: Crowd = {
    address: stage.address,
    keys: stage.guests.map(({ key }) => Buffer.from(key).toString("base64")),
  };
  crowd.send(job);
  // Nobody gets linked to a device that has ended.
  const ended = once(stage.victim.child, "exit").then(() => Promise.reject(new Error("the device has ended")));
  await Promise.race([once(crowd, "message"), ended]);
  // Until the first frames of all of them are used.
  await pause(2_000);
  const calm = await watch(stage, 5);
  crowd.send("flood");
  await pause(1_000);
  const flooded = await watch(stage, seconds);
  crowd.disconnect();
  const linked = isLinked(stage);
  await leave(stage);

  const arrived = flooded.rates(({ victim }) => heardFromGuests(victim));
  // What the victim sends is no measure: it holds back what is noise to it.
  const used = (seen: Watched) => mean(seen.rates(({ victim }) => framesHeard(victim, "guest-0")));
  const kept = used(flooded) / used(calm);
  const delay = Math.max(...flooded.samples.map(({ victim }) => victim.delayMilliseconds));
  const memory = (seen: Watched) => Math.max(...seen.samples.map(({ memoryBytes }) => memoryBytes));
  const growth = (memory(flooded) - memory(calm)) / 1e6;
  print(`Flood by ${peers} linked peers that keep to the rules, for ${seconds} s`, [
    ["", "measured", "bar"],
    ["frames that arrived a second", `${mean(arrived).toFixed(0)} (${span(arrived)})`, "10000"],
    ["event delay p99, worst second", `${delay.toFixed(0)} ms`, "100 ms"],
    ["time on a core, and waiting for one", coreShares(flooded), ""],
    ["memory growth", `${growth.toFixed(0)} MB`, "50 MB"],
    [
      "frames of a calm one that were used",
      `${(100 * kept).toFixed(0)} % of ${used(calm).toFixed(0)} a second`,
      "90 %",
    ],
    ["honest link", linked ? "unaffected" : "lost", ""],
  ]);
  return mean(arrived) >= 10_000 && delay < 100 && growth < 50 && kept >= 0.9 && linked;
}

interface Sample {
  /** Nanoseconds that the victim has run, and that it has waited for a core. */
  readonly cores: readonly number[];
  readonly memoryBytes: number;
  readonly victim: DaemonStatus;
}

interface Watched {
  readonly samples: readonly Sample[];
  /** How fast a count grew, a second, between one sample and the next. */
  rates(count: (sample: Sample) => number): number[];
}

/** Every status that the victim writes, which is one a second while it has something to do. */
async function watch({ victim }: Scene, seconds: number): Promise<Watched> {
  const samples: Sample[] = [];
  while (samples.length <= seconds) {
    await pause(50);
    const status = victim.status();
    if (status === undefined || status.writtenAt === samples.at(-1)?.victim.writtenAt) continue;
    const { memoryBytes } = processUse(status.pid);
    samples.push({ cores: coreTimes(status.pid), memoryBytes, victim: status });
  }
  return {
    samples,
    rates: (count) =>
      samples.slice(1).map((sample, i) => {
        const passed = Date.parse(sample.victim.writtenAt) - Date.parse(samples[i].victim.writtenAt);
        return ((count(sample) - count(samples[i])) / passed) * 1_000;
      }),
  };
}

function coreTimes(pid: number): number[] {
  return readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ").map(Number);
}

/** Tells a busy device from a busy machine. */
function coreShares({ rates }: Watched): string {
  const [run, wait] = [0, 1].map((which) => mean(rates(({ cores }) => cores[which])) / 1e7);
  return `${run.toFixed(0)} %, ${wait.toFixed(0)} %`;
}

const framesHeard = ({ links }: DaemonStatus, of: string) => links.find(({ name }) => name === of)?.framesHeard ?? 0;

const heardFromGuests = ({ links }: DaemonStatus) =>
  links.filter(({ name }) => name.startsWith("guest")).reduce((sum, { received }) => sum + received.frames, 0);

const mean = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

const span = (numbers: readonly number[]) => `${Math.min(...numbers).toFixed(0)} to ${Math.max(...numbers).toFixed(0)}`;

/** Fresh keys, one connection each. */
export async function strangers({ count }: { count: number }): Promise<boolean> {
  const stage = await scene(0);
  const memory = () => processUse(stage.victim.child.pid ?? 0).memoryBytes;
  const before = memory();
  let streams = 0;
  for (let n = 0; n < count; n++) {
    const node = await rogue();
    if ((await openStream(node, stage.address)) !== undefined) streams += 1;
    await node.stop();
  }
  // A status is up to three seconds old.
  await pause(4_000);
  const status = stage.victim.status();
  const growth = (memory() - before) / 1e6;
  const linked = isLinked(stage);
  await leave(stage);
  print(`${count} strangers with fresh keys`, [
    ["streams opened", "listed as pending", "honest link", "memory growth"],
    [String(streams), String(status?.pending.length), linked ? "unaffected" : "lost", `${growth.toFixed(0)} MB`],
  ]);
  // Nobody listed would mean that nobody came.
  return streams === 0 && linked && (status?.pending.length ?? 0) >= Math.min(20, count);
}

/** Linked peers that keep to the stream's rules and send nonsense in it. */
export async function malformed({ frames }: { frames: number }): Promise<boolean> {
  const stage = await scene(8);
  await settle([stage.honest]);
  // The victim has guests that are not there yet.
  const isAtRest = (status = stage.victim.status()) => status !== undefined && isSettled(status.device, []);
  while (!isAtRest()) await pause(200);
  // A status is up to three seconds old.
  await pause(4_000);
  const before = stage.victim.status();
  const random = randomStream(1, "malformed");
  await Promise.all(
    stage.guests.map(async (identity) => {
      const heard: Uint8Array[] = [];
      const network = libp2pNetwork({
        identity,
        listen: [],
        links: [{ peer: stage.victimPeer, addresses: [stage.address] }],
        onStranger: () => {},
        onRefuse: () => {},
      });
      const connected = new Promise<void>((resolve) => {
        network.start({
          onConnect: () => {},
          onDisconnect: () => {},
          onFrame: (_, frame) => heard.push(frame) && resolve(),
        });
      });
      await connected;
      while ((network.traffic(stage.victimPeer)?.sent.frames ?? 0) < frames / stage.guests.length) {
        network.send(stage.victimPeer, spoiled(heard[0], random));
        await pause(4);
      }
      await pause(1_000);
      await network.close();
    }),
  );
  await pause(4_000);
  const after = stage.victim.status();
  const refused = after?.links
    .flatMap(({ framesRefused }) => Object.values(framesRefused))
    .reduce((sum, n) => sum + n, 0);
  const isSame = JSON.stringify(before?.device.centroids) === JSON.stringify(after?.device.centroids);
  const lives = stage.victim.child.exitCode === null;
  const linked = isLinked(stage);
  await leave(stage);
  print("Malformed frames by eight linked peers", [
    ["refused", "crashes", "centroids changed", "honest link"],
    [String(refused), lives ? "0" : "1", isSame ? "no" : "yes", linked ? "unaffected" : "lost"],
  ]);
  return lives && isSame && linked && (refused ?? 0) >= frames;
}

/** A valid frame made invalid in one of many ways. */
function spoiled(valid: Uint8Array, random: () => number): Uint8Array {
  const frame = valid.slice();
  const view = new DataView(frame.buffer);
  const ways = [
    () => frame.subarray(0, Math.floor(random() * frame.length)),
    () => Uint8Array.from({ length: 1 + Math.floor(random() * 300) }, () => Math.floor(random() * 256)),
    // Magic, version, type, k, d, flags: each value other than the right one is wrong.
    () => spoilByte(frame, Math.floor(random() * 12), random),
    () => spoilByte(frame, 12 + Math.floor(random() * 16), random),
    () => {
      const numbers = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300, -1e9];
      view.setFloat64(frame.length - 8 * (1 + Math.floor(random() * 6)), numbers[Math.floor(random() * 5)], true);
      return frame;
    },
    () => new Uint8Array([...frame, 0]),
  ];
  const made = ways[Math.floor(random() * ways.length)]();
  return made.length === 0 ? Uint8Array.of(0) : made;
}

function spoilByte(frame: Uint8Array, at: number, random: () => number): Uint8Array {
  frame[at] ^= 1 + Math.floor(random() * 255);
  return frame;
}

/** Linked peers that begin a frame and stop in the middle of it, before the devices have agreed. */
export async function stalled({ peers }: { peers: number }): Promise<boolean> {
  const stage = await scene(peers);
  const nodes: Libp2p[] = [];
  const begun = performance.now();
  for (const { key } of stage.guests) {
    const node = await rogue(privateKeyFromProtobuf(key));
    nodes.push(node);
    const stream = await openStream(node, stage.address);
    stream?.send(Uint8Array.of(109, 1, 2, 3));
  }
  await settle([stage.honest]);
  const settled = (performance.now() - begun) / 1000;
  await pause(11_000);
  const cut = stage.victim.log().split("a frame did not end within 10 s").length - 1;
  const linked = isLinked(stage);
  await Promise.all(nodes.map((node) => node.stop()));
  await leave(stage);
  print(`${peers} linked peers that stop in the middle of a frame`, [
    ["honest devices settled after", "cut off after 10 s", "honest link"],
    [`${settled.toFixed(1)} s`, String(cut), linked ? "unaffected" : "lost"],
  ]);
  return settled < 60 && linked && cut === peers;
}
