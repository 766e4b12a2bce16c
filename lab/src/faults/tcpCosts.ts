// What a device costs: memory, time to listen, a round trip, bytes for a change that is sent, and silence when settled.

import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { graph, star, updateDevice } from "@fedkm/core";
import { frameBytes } from "@fedkm/device";
import { createIdentity, type Libp2pNetwork, libp2pNetwork } from "@fedkm/device/libp2p";
import { print } from "../measure.ts";
import { makeFolders, type ProcessUse, problem, processUse, settle, startDevice } from "./processes.ts";
import { tcpNetwork, tcpProxy } from "./tcpNetwork.ts";

// Plain TCP on loopback, one message there and back: what the machine itself takes, next to what a link takes.

interface PlainPair {
  /** Resolves when the bytes have come back. */
  trip(bytes: Uint8Array): Promise<void>;
  close(): void;
}

async function plainPair(): Promise<PlainPair> {
  const server = createServer((socket) => socket.setNoDelay(true).pipe(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const near = connect((server.address() as AddressInfo).port, "127.0.0.1").setNoDelay(true);
  await once(near, "connect");
  return {
    async trip(bytes) {
      const back = once(near, "data");
      near.write(bytes);
      await back;
    },
    close() {
      near.destroy();
      server.close();
    },
  };
}

const IDLE_SECONDS = 60;

/** Bars: 100 MB, 1 s, 5 ms; idle: 30 wake-ups a second, 1 kB a second to the disk. */
export async function deviceCosts(): Promise<boolean> {
  const { study, datasets } = problem("iso", 1);
  const folders = await makeFolders({ study, datasets: datasets.slice(0, 4), graph: star(4) });
  const running = [];
  const starts: number[] = [];
  try {
    for (const folder of folders.devices) {
      const device = startDevice(folder);
      running.push(device);
      starts.push(await device.said("listening"));
    }
    await settle(running);
    // Idle, with the memory of the work before it.
    await pause(5_000);
    const before = processUse(running[0].child.pid ?? 0);
    await pause(1_000 * IDLE_SECONDS);
    const after = processUse(running[0].child.pid ?? 0);
    const each = (what: keyof ProcessUse) => (after[what] - before[what]) / IDLE_SECONDS;
    const memory = after.memoryBytes / 1e6;
    const trip = await roundTrip();
    const start = Math.min(...starts);
    print("One device", [
      ["start to listening", "idle memory, 3 links", "of a core", "wake-ups a second", "bytes written a second"],
      [
        `${(start / 1000).toFixed(2)} s`,
        `${memory.toFixed(0)} MB`,
        `${(100 * each("cpuSeconds")).toFixed(2)} %`,
        each("wakeUps").toFixed(1),
        each("writtenBytes").toFixed(0),
      ],
    ]);
    print(`Round trips on loopback, ${TRIPS} of each in turn, in ms`, [
      ["", "median", "p99", "worst", "longer than 5"],
      ["an update: sent, received, used, sent back", ...trip.update],
      ["the same bytes over plain TCP", ...trip.plain],
    ]);
    const isIdle = each("wakeUps") < 30 && each("writtenBytes") < 1_000;
    return memory <= 100 && start <= 1_000 && Number(trip.update[0]) < 5 && isIdle;
  } finally {
    await Promise.all(running.map((device) => device.end("SIGTERM")));
    folders.remove();
  }
}

/** A network that only carries, for measuring it. */
async function linkedPair(addressOf: (port: number) => Promise<number> = async (port) => port) {
  const [one, two] = [await createIdentity(), await createIdentity()];
  const common = { onStranger: () => {}, onRefuse: () => {} };
  const a = libp2pNetwork({
    ...common,
    identity: one,
    listen: ["/ip4/127.0.0.1/tcp/0"],
    links: [{ peer: two.peer, addresses: [] }],
  });
  const heard: { a: (frame: Uint8Array) => void; b: (frame: Uint8Array) => void } = { a: () => {}, b: () => {} };
  let connected = 0;
  const listen = (network: Libp2pNetwork, name: "a" | "b", onBoth: () => void) =>
    network.start({
      onFrame: (_, frame) => heard[name](frame),
      onDisconnect: () => {},
      onConnect() {
        connected += 1;
        if (connected === 2) onBoth();
      },
    });
  let b: Libp2pNetwork | undefined;
  await new Promise<void>((resolve, reject) => {
    const begin = async () => {
      await listen(a, "a", resolve);
      const port = await addressOf(Number(a.addresses()[0].split("/").at(-1)));
      const links = [{ peer: one.peer, addresses: [`/ip4/127.0.0.1/tcp/${port}`] }];
      b = libp2pNetwork({ ...common, identity: two, listen: [], links });
      await listen(b, "b", resolve);
    };
    begin().catch(reject);
  });
  return {
    heard,
    sendB: (frame: Uint8Array) => a.send(two.peer, frame),
    sendA: (frame: Uint8Array) => b?.send(one.peer, frame),
    close: async () => {
      await a.close();
      await b?.close();
    },
  };
}

const TRIPS = 1_000;

/** Sent, heard, used in an update, sent back, heard; and plain TCP at the same moments, which shows what the machine adds. */
async function roundTrip(): Promise<{ update: string[]; plain: string[] }> {
  const { datasets } = problem("iso", 1);
  const pair = await linkedPair();
  const plain = await plainPair();
  const centroids = { data: datasets[0].data.slice(0, 6), rows: 3, cols: 2 };
  const frame = new Uint8Array(frameBytes({ k: 3, d: 2 }));
  pair.heard.b = (heard) => {
    updateDevice(datasets[1], centroids, [centroids], { alpha: 1, passes: 1 });
    pair.sendA(heard);
  };
  const update = () =>
    new Promise<void>((resolve) => {
      pair.heard.a = () => resolve();
      pair.sendB(frame);
    });
  const times: { update: number[]; plain: number[] } = { update: [], plain: [] };
  for (let n = 0; n < TRIPS; n++) {
    times.update.push(await timed(update));
    times.plain.push(await timed(() => plain.trip(frame)));
    // Slower than the pace at which frames are confirmed, so that nothing waits for that.
    await pause(10);
  }
  await pair.close();
  plain.close();
  return { update: summary(times.update), plain: summary(times.plain) };
}

async function timed(run: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await run();
  return performance.now() - begun;
}

/** Median, p99, worst, and how many took longer than 5 ms. */
function summary(times: number[]): string[] {
  times.sort((x, y) => x - y);
  const at = (share: number) => times[Math.floor(share * (times.length - 1))].toFixed(2);
  return [at(0.5), at(0.99), at(1), String(times.filter((time) => time > 5).length)];
}

/** The bar: a frame and 64 bytes, confirmations and window updates included, at TCP's payload. */
export async function bytesOfAChange(): Promise<boolean> {
  const rows: string[][] = [["k", "d", "frame", "on the wire", "more", ""]];
  let isGood = true;
  for (const [k, d] of [
    [3, 2],
    [10, 10],
    [50, 20],
    [100, 20],
  ]) {
    const length = frameBytes({ k, d });
    const proxies: Awaited<ReturnType<typeof tcpProxy>>[] = [];
    const pair = await linkedPair(async (port) => {
      proxies.push(await tcpProxy(() => port));
      return proxies[0].port;
    });
    const [proxy] = proxies;
    let onHeard = () => {};
    pair.heard.b = () => onHeard();
    const send = async (frames: number) => {
      for (let n = 0; n < frames; n++) {
        await new Promise<void>((resolve) => {
          onHeard = resolve;
          pair.sendB(new Uint8Array(length));
        });
        await pause(6);
      }
      // The last confirmation comes a little later.
      await pause(500);
    };
    // Until the link is known to be quick.
    await send(160);
    const before = proxy.bytes;
    const FRAMES = 320;
    await send(FRAMES);
    const each = (proxy.bytes - before) / FRAMES;
    const isWithin = each <= length + 64;
    isGood &&= isWithin;
    rows.push([
      String(k),
      String(d),
      String(length),
      each.toFixed(1),
      (each - length).toFixed(1),
      isWithin ? "held" : "missed",
    ]);
    await pair.close();
    await proxy.close();
  }
  print("Bytes for a change that is sent (TCP payload of both directions; the bar is 64 more than the frame)", rows);
  return isGood;
}

/** A settled network sends heartbeats, one every 30 s and neighbour, and what TCP needs to stay up. */
export async function silence({ seconds }: { seconds: number }): Promise<boolean> {
  const { study, datasets } = problem("iso", 1);
  const links = graph(4, [
    [0, 1],
    [1, 2],
    [2, 3],
    [3, 0],
  ]);
  const network = await tcpNetwork({ study, datasets: datasets.slice(0, 4), graph: links, seed: 1 });
  try {
    await Promise.all([0, 1, 2, 3].map((i) => network.start(i)));
    await network.settled(60_000);
    const sent = () => network.devices.reduce((sum, device) => sum + device.status().framesSent, 0);
    const carried = () => [...network.proxies.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    const before = { sent: sent(), carried: carried() };
    await pause(seconds * 1_000);
    const frames = sent() - before.sent;
    const most = 8 * Math.ceil(seconds / 30);
    const rate = (carried() - before.carried) / seconds / 4;
    print(`Settled: 4 devices in a ring, watched for ${seconds} s`, [
      ["frames sent", "heartbeats due, at most", "bytes a second and link, all included"],
      [String(frames), String(most), rate.toFixed(1)],
    ]);
    return frames <= most;
  } finally {
    await network.close();
  }
}
