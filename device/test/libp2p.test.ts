// Devices' networks over real sockets on loopback: links are mutual, strangers get nothing, broken links heal.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { privateKeyFromProtobuf } from "@libp2p/crypto/keys";
import { noise } from "@libp2p/noise";
import { tcp } from "@libp2p/tcp";
import { yamux } from "@libp2p/yamux";
import { multiaddr } from "@multiformats/multiaddr";
import { createLibp2p } from "libp2p";
import { afterEach, expect, test } from "vitest";
import { addressFault, type Contact, identityOf, peerFault } from "../src/libp2p.ts";
import { Peers } from "./loopback.ts";

const peers = new Peers();
afterEach(() => peers.close());

const alone = (neighbour: Contact): Contact => ({ ...neighbour, addresses: [] });

test("two linked devices hear each other, over TCP and over WebSocket, whoever dialled", async () => {
  const [one, two, three] = [await peers.identity("one"), await peers.identity("two"), await peers.identity("three")];
  const a = await peers.start(
    one,
    [two, three].map(({ peer }) => ({ peer, addresses: [] })),
    ["/ip4/127.0.0.1/tcp/0", "/ip4/127.0.0.1/tcp/0/ws"],
  );
  const [overTcp, overWebSocket] = a.network.addresses();
  expect(overWebSocket).toMatch(/\/ws$/);
  const b = await peers.start(two, [{ peer: one.peer, addresses: [overTcp] }], []);
  const c = await peers.start(three, [{ peer: one.peer, addresses: [overWebSocket] }], []);
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

test("a link that only one side made gets nothing: the other lists a stranger and opens no stream", async () => {
  const [one, two] = [await peers.identity("one"), await peers.identity("two")];
  const a = await peers.start(one, []);
  const b = await peers.start(two, [a.neighbour()]);
  await a.happened("stranger two", 3);
  b.network.send(one.peer, Uint8Array.of(1));
  expect(new Set(a.events)).toEqual(new Set(["stranger two"]));
  expect(b.events).toEqual([]);
  expect(b.network.traffic(one.peer)?.sent.frames).toBe(0);
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
  const b = await peers.start(two, [a.neighbour()], []);
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

test("identityOf a key names the same peer, and throws for other bytes", async () => {
  const { peer, key } = await peers.identity("one");
  expect(identityOf(key)).toEqual({ peer, key });
  expect(() => identityOf(key.subarray(1))).toThrow();
});

test("peerFault and addressFault say what an id and an address must be", async () => {
  const { peer } = await peers.identity("one");
  expect(peerFault(peer)).toBeUndefined();
  expect(peerFault("me")).toBe("must be a peer id such as 12D3KooW..., got me");
  expect(peerFault("QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N")).toMatch(/^must be of an Ed25519 key/);
  expect(addressFault("/ip4/127.0.0.1/tcp/4601")).toBeUndefined();
  expect(addressFault("/dns4/example.org/tcp/443/wss")).toBeUndefined();
  expect(addressFault("localhost:4601")).toMatch(/^must be a multiaddress such as/);
  expect(addressFault(`/ip4/127.0.0.1/tcp/1/p2p/${peer}`)).toMatch(/^must have a tcp port, no peer and no relay/);
  expect(addressFault("/ip4/127.0.0.1/udp/1")).toMatch(/^must have a tcp port/);
});
