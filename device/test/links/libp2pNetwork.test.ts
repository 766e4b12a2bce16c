// Devices' networks over real sockets on loopback: links are mutual, strangers get nothing, broken links heal.

import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { privateKeyFromProtobuf } from "@libp2p/crypto/keys";
import { noise } from "@libp2p/noise";
import { tcp } from "@libp2p/tcp";
import { yamux } from "@libp2p/yamux";
import { multiaddr } from "@multiformats/multiaddr";
import { createLibp2p } from "libp2p";
import { afterEach, expect, test } from "vitest";
import { freeMachinePorts } from "../../src/daemon/machineAddresses.ts";
import type { Contact } from "../../src/links/libp2pNetwork.ts";
import { nodeWebSockets } from "../../src/links/webSockets.ts";
import { Peers } from "../loopback.ts";

const peers = new Peers();
afterEach(() => peers.close());

const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === "::1"));
const alone = (neighbour: Contact): Contact => ({ ...neighbour, addresses: [] });

test("two linked devices hear each other, over TCP and over WebSocket, whoever dialled", async () => {
  const [one, two, three] = [await peers.identity("one"), await peers.identity("two"), await peers.identity("three")];
  const a = await peers.start(
    one,
    [two, three].map(({ peer }) => ({ peer, addresses: [] })),
    { listen: ["/ip4/127.0.0.1/tcp/0", "/ip4/127.0.0.1/tcp/0/ws"] },
  );
  const [overTcp, overWebSocket] = a.network.addresses();
  expect(overWebSocket).toMatch(/\/ws$/);
  const b = await peers.start(two, [{ peer: one.peer, addresses: [overTcp] }], { listen: [] });
  const c = await peers.start(three, [{ peer: one.peer, addresses: [overWebSocket] }], { listen: [] });
  await Promise.all([a.happened("connect two"), a.happened("connect three")]);
  await Promise.all([b.happened("connect one"), c.happened("connect one")]);
  a.network.send(two.peer, Uint8Array.of(1, 2, 3));
  a.network.send(three.peer, Uint8Array.of(4));
  b.network.send(one.peer, Uint8Array.of(5));
  c.network.send(one.peer, Uint8Array.of(6));
  await Promise.all([b.happened("frame one"), c.happened("frame one")]);
  await Promise.all([a.happened("frame two"), a.happened("frame three")]);
  expect(b.frames).toEqual([Uint8Array.of(1, 2, 3)]);
  expect(c.frames).toEqual([Uint8Array.of(4)]);
  expect(a.network.traffic(two.peer)).toMatchObject({
    sent: { frames: 1, bytes: 4 },
    received: { frames: 1, bytes: 1 },
  });
});

test("the system asks on every connection that was dialled whether the other machine is there, within 2 s", async (context) => {
  context.skip(!existsSync("/proc/net/tcp"), "only Linux shows the timers of connections in a file");
  const [one, two, three] = [await peers.identity("one"), await peers.identity("two"), await peers.identity("three")];
  const a = await peers.start(
    one,
    [two, three].map(({ peer }) => ({ peer, addresses: [] })),
    { listen: ["/ip4/127.0.0.1/tcp/0", "/ip4/127.0.0.1/tcp/0/ws"] },
  );
  const [overTcp, overWebSocket] = a.network.addresses();
  const webSockets = nodeWebSockets({});
  await peers.start(two, [{ peer: one.peer, addresses: [overTcp] }], { listen: [] });
  await peers.start(three, [{ peer: one.peer, addresses: [overWebSocket] }], { listen: [], webSockets });
  await Promise.all([a.happened("connect two"), a.happened("connect three")]);
  /** Timers of established connections by their ends: 2 is that of questions, in hundredths of a second. */
  const timers = () =>
    Array.from(
      readFileSync("/proc/net/tcp", "utf8").matchAll(/: \w+:(\w+) \w+:(\w+) 01 \S+ (\d\d):(\w+) /g),
      ([, near, far, kind, when]) => ({
        ports: [near, far].map((port) => Number.parseInt(port, 16)),
        isAsking: Number(kind) === 2 && Number.parseInt(when, 16) <= 200,
      }),
    );
  for (const [address, ends] of [
    [overTcp, [0, 1]],
    [overWebSocket, [1]],
  ] as const) {
    const port = Number(/tcp\/(\d+)/.exec(address)?.[1]);
    // Nothing is on its way when a timer of questions runs.
    for (const end of ends) {
      await expect.poll(() => timers().find(({ ports }) => ports[end] === port)?.isAsking).toBe(true);
    }
  }
});

test("a link that only one side made gets nothing: the other lists a stranger and opens no stream", async () => {
  const [one, two] = [await peers.identity("one"), await peers.identity("two")];
  const a = await peers.start(one, []);
  const b = await peers.start(two, [a.neighbour()]);
  await a.happened("stranger two", 3);
  b.network.send(one.peer, Uint8Array.of(1));
  expect(new Set(a.events)).toEqual(new Set(["stranger two"]));
  expect(b.events).toEqual([]);
  expect(b.network.traffic(one.peer)?.sent.frames).toBe(0);
  await expect.poll(() => b.network.traffic(one.peer)?.failure).toMatch(/^it has not linked back/);
  // As soon as the other side links too, it works, without a restart.
  a.network.setLinks([b.neighbour()]);
  await Promise.all([a.happened("connect two"), b.happened("connect one")]);
});

test("a neighbour that dies and comes back under its key is linked again, by either side", async () => {
  const [one, two] = [await peers.identity("one"), await peers.identity("two")];
  const a = await peers.start(one, [alone({ peer: two.peer, addresses: [] })]);
  const first = await peers.start(two, [a.neighbour()]);
  await Promise.all([a.happened("connect two"), first.happened("connect one")]);
  await first.network.close();
  await a.happened("disconnect two");
  const again = await peers.start(two, [a.neighbour()]);
  await Promise.all([a.happened("connect two", 2), again.happened("connect one")]);
  a.network.send(two.peer, Uint8Array.of(9));
  await again.happened("frame one");
});

test("a neighbour is found at its second address where nobody answers at the first", async () => {
  const [one, two] = [await peers.identity("one"), await peers.identity("two")];
  const silent = createServer();
  const sockets: Socket[] = [];
  silent.on("connection", (socket) => sockets.push(socket));
  await once(silent.listen(0, "127.0.0.1"), "listening");
  try {
    const a = await peers.start(one, [alone({ peer: two.peer, addresses: [] })]);
    const { port } = silent.address() as AddressInfo;
    const addresses = [`/ip4/127.0.0.1/tcp/${port}`, ...a.network.addresses()];
    const b = await peers.start(two, [{ peer: one.peer, addresses }]);
    await Promise.all([a.happened("connect two"), b.happened("connect one")]);
    expect(sockets.length).toBe(1);
  } finally {
    for (const socket of sockets) socket.destroy();
    silent.close();
  }
});

test("setLinks without a peer hangs up on it, and it stays a stranger", async () => {
  const [one, two] = [await peers.identity("one"), await peers.identity("two")];
  const a = await peers.start(one, [alone({ peer: two.peer, addresses: [] })]);
  const b = await peers.start(two, [a.neighbour()]);
  await Promise.all([a.happened("connect two"), b.happened("connect one")]);
  a.network.setLinks([]);
  await b.happened("disconnect one");
  await a.happened("stranger two");
  expect(a.events).toEqual(["connect two", "disconnect two", ...a.events.slice(2)]);
  expect(new Set(a.events.slice(2))).toEqual(new Set(["stranger two"]));
});

test("50 strangers with fresh keys open 0 streams, and linked peers hear each other meanwhile", async () => {
  const [one, two] = [await peers.identity("one"), await peers.identity("two")];
  const a = await peers.start(one, [alone({ peer: two.peer, addresses: [] })]);
  const b = await peers.start(two, [a.neighbour()]);
  await Promise.all([a.happened("connect two"), b.happened("connect one")]);
  const [address] = a.network.addresses();
  const knock = async () => {
    const stranger = await createLibp2p({
      transports: [tcp()],
      connectionEncrypters: [noise()],
      streamMuxers: [yamux()],
      connectionMonitor: { enabled: false },
    });
    try {
      await stranger.dialProtocol(multiaddr(address), "/fedkm/1", { signal: AbortSignal.timeout(2_000) });
      return "a stream";
    } catch {
      return "refused";
    } finally {
      await stranger.stop();
    }
  };
  const answers = new Set<string>();
  for (let n = 0; n < 50; n++) {
    answers.add(await knock());
    b.network.send(one.peer, Uint8Array.of(n));
  }
  await a.happened("frame two", 50);
  expect(answers).toEqual(new Set(["refused"]));
  expect(a.events.filter((event) => event.startsWith("connect"))).toEqual(["connect two"]);
  expect(a.events.filter((event) => event.startsWith("disconnect"))).toEqual([]);
});

test("sockets that say nothing do not keep a linked neighbour out", async () => {
  const [one, two] = [await peers.identity("one"), await peers.identity("two")];
  const a = await peers.start(one, [{ peer: two.peer, addresses: [] }]);
  const port = Number(a.neighbour().addresses[0].split("/").at(-1));
  let isOver = false;
  const sockets = new Set<Socket>();
  const hold = () => {
    if (isOver) return;
    const socket = connect(port, "127.0.0.1").resume();
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      setTimeout(hold, 100);
    });
  };
  for (let n = 0; n < 15; n++) hold();
  const b = await peers.start(two, [a.neighbour()], { listen: [] });
  await b.happened("connect one");
  isOver = true;
  for (const socket of sockets) socket.destroy();
});

test("a linked peer cannot take connection after connection", async () => {
  const [one, two] = [await peers.identity("one"), await peers.identity("two")];
  const a = await peers.start(one, [{ peer: two.peer, addresses: [] }]);
  const node = await createLibp2p({
    privateKey: privateKeyFromProtobuf(two.key),
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
  });
  for (let n = 0; n < 8; n++) await node.dial(multiaddr(a.neighbour().addresses[0]), { force: true });
  await expect.poll(() => node.getConnections().length).toBe(3);
  await node.stop();
});

test("a linked peer that sends a frame longer than any of the study is refused and kept away", async () => {
  const [one, two] = [await peers.identity("one"), await peers.identity("two")];
  const a = await peers.start(one, [alone({ peer: two.peer, addresses: [] })]);
  const b = await peers.start(two, [a.neighbour()]);
  await Promise.all([a.happened("connect two"), b.happened("connect one")]);
  b.network.send(one.peer, new Uint8Array(1_001));
  await b.happened("disconnect one");
  await a.happened("stranger two");
  expect(a.events).toContain("refused two: a frame must have at most 1000 bytes, got 1001 or more");
  expect(a.frames).toEqual([]);
});

test("devices hear each other over IPv6, and find each other at a name", async () => {
  const [one, two, three] = [await peers.identity("one"), await peers.identity("two"), await peers.identity("three")];
  const both = [two, three].map(({ peer }) => ({ peer, addresses: [] }));
  const listen = ["/ip4/127.0.0.1/tcp/0", ...(hasIpv6 ? ["/ip6/::1/tcp/0"] : [])];
  const a = await peers.start(one, both, { listen });
  const [ip4, ip6 = ip4] = a.network.addresses();
  const named = ip4.replace("/ip4/127.0.0.1/", "/dns4/localhost/");
  await peers.start(two, [{ peer: one.peer, addresses: [ip6] }], { listen: [] });
  await peers.start(three, [{ peer: one.peer, addresses: [named] }], { listen: [] });
  await Promise.all([a.happened("connect two"), a.happened("connect three")]);
});

test("each side learns where the other one listens, and finds it there when it has no other address", async () => {
  const [one, two] = [await peers.identity("one"), await peers.identity("two")];
  const [first, second] = await freeMachinePorts("127.0.0.1", 2);
  const at = (port: number) => ({
    listen: [`/ip4/127.0.0.1/tcp/${port}`],
    announce: [`/dns4/localhost/tcp/${port}`],
  });
  const a = await peers.start(one, [{ peer: two.peer, addresses: [] }], at(first));
  const b = await peers.start(two, [a.neighbour()], at(second));
  await Promise.all([a.happened("met"), b.happened("met")]);
  expect(a.met).toEqual({ [two.peer]: at(second).announce });
  // The link itself says nothing of where it is, and it has no address to dial this side at.
  await a.network.close();
  await b.network.close();
  await peers.start(two, [{ peer: one.peer, addresses: [] }], at(second));
  const again = await peers.start(one, [{ peer: two.peer, addresses: [] }], {
    ...at(first),
    peerAddresses: a.met ?? {},
  });
  await again.happened("connect two");
});
