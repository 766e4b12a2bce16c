// One device under attack, as a process of its own, over real TCP: strangers, malformed frames, senders that stall.

import { setTimeout as pause } from "node:timers/promises";
import { randomStream } from "@fedkm/core";
import { isSettled } from "@fedkm/device";
import { libp2pNetwork } from "@fedkm/device/libp2p";
import { privateKeyFromProtobuf } from "@libp2p/crypto/keys";
import type { Libp2p } from "@libp2p/interface";
import { print } from "../measure.ts";
import { settle } from "./processes.ts";
import { processUse } from "./processUse.ts";
import { isLinked, leave, openStream, rogue, scene } from "./tcpScene.ts";

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
