// Two devices that nobody can dial, and a linked one that relays between them: what passes, what the relay sees, who not.

import { circuitRelayServer } from "@libp2p/circuit-relay-v2";
import { privateKeyFromProtobuf } from "@libp2p/crypto/keys";
import { noise } from "@libp2p/noise";
import { tcp } from "@libp2p/tcp";
import { yamux } from "@libp2p/yamux";
import { createLibp2p, type Libp2p } from "libp2p";
import { afterEach, expect, test } from "vitest";
import { peerThroughRelay } from "../../src/keys/peer.ts";
import type { Contact, Identity, Libp2pOptions } from "../../src/links/libp2pNetwork.ts";
import { type Loopback, Peers } from "../loopback.ts";

const peers = new Peers();
afterEach(() => peers.close());

const unknown = ({ peer }: Identity) => ({ peer, addresses: [] });

/** A relay that is linked with one and two, which are linked with each other through it. */
async function scene(ofOne: Partial<Libp2pOptions> = {}, onRelayed: (bytes: Uint8Array) => void = () => {}) {
  const [one, two, north] = [await peers.identity("one"), await peers.identity("two"), await peers.identity("north")];
  const relay = await peers.start(north, [unknown(one), unknown(two)], { isRelay: true, onRelayed });
  const a = await peers.start(one, [relay.neighbour(), unknown(two)], { listen: [], ...ofOne });
  const through = { peer: one.peer, addresses: [peerThroughRelay(north.peer)] };
  const b = await peers.start(two, [relay.neighbour(), through], { listen: [] });
  return { one, two, north, relay, a, b };
}

/** A node without any of our rules. */
const plain = ({ key }: Identity) => ({
  privateKey: privateKeyFromProtobuf(key),
  addresses: { listen: ["/ip4/127.0.0.1/tcp/0"] },
  transports: [tcp()],
  connectionEncrypters: [noise()],
  streamMuxers: [yamux()],
});

function contact(node: Libp2p): Contact {
  return {
    peer: node.peerId.toString(),
    addresses: node.getMultiaddrs().map((address) => `${address}`.split("/p2p/")[0]),
  };
}

const together = (a: Loopback, b: Loopback) => Promise.all([a.happened("connect two"), b.happened("connect one")]);

test("devices that listen on nothing hear each other through a relay, which sees neither frames nor their parts", async () => {
  const seen: Uint8Array[] = [];
  const { one, two, north, relay, a, b } = await scene({}, (bytes) => seen.push(bytes.slice()));
  await together(a, b);
  const frame = Uint8Array.from({ length: 900 }, (_, n) => (n * 37) % 251);
  a.network.send(two.peer, frame);
  b.network.send(one.peer, frame);
  await Promise.all([a.happened("frame two"), b.happened("frame one")]);
  expect(b.frames).toEqual([frame]);
  expect(a.network.route(two.peer)).toMatchObject({ via: north.peer, isRelay: false });
  expect(b.network.route(one.peer).relays).toEqual([north.peer]);
  expect(a.network.route(north.peer)).toMatchObject({ via: undefined, relays: [], isRelay: true });
  expect(a.network.addresses()).toEqual([peerThroughRelay(north.peer)]);
  const carried = relay.network.relayTraffic();
  expect(carried).toMatchObject({ reservations: 2 });
  expect(carried?.circuits).toBeGreaterThan(0);
  // All of it went through the relay, and none of it can be read there.
  const bytes = Buffer.concat(seen);
  expect(carried?.bytes).toBe(bytes.length);
  expect(bytes.length).toBeGreaterThan(2 * frame.length);
  for (let at = 0; at < frame.length; at += 8)
    expect(bytes.includes(Buffer.from(frame.subarray(at, at + 8)))).toBe(false);
});

test("a stranger gets no reservation and no circuit, and one that only the relay has linked gets no stream", async () => {
  const { one, two, north, relay, a, b } = await scene();
  await together(a, b);
  const [stranger, guest] = [await peers.identity("stranger"), await peers.identity("guest")];
  const through = { peer: one.peer, addresses: [peerThroughRelay(north.peer)] };
  const outside = await peers.start(stranger, [relay.neighbour(), through], { listen: [] });
  await relay.happened("stranger stranger");
  await expect
    .poll(() => outside.network.traffic(one.peer)?.failure)
    .toMatch(/^it cannot be reached through the relay/);
  expect(outside.network.addresses()).toEqual([]);
  relay.network.setLinks([one, two, guest].map(unknown));
  const inside = await peers.start(guest, [relay.neighbour(), through], { listen: [] });
  // It comes as far as to prove its key.
  await a.happened("stranger guest");
  await expect.poll(() => inside.network.traffic(one.peer)?.failure).toMatch(/^it has not linked back/);
  expect(outside.events).toEqual([]);
  expect(inside.events).toEqual(["connect north"]);
  expect(a.events.filter((event) => event.startsWith("connect"))).toHaveLength(2);
});

test("a relay that unlinks one end brings nobody to it, and the other end says why", async () => {
  const { one, two, north, relay, a, b } = await scene();
  await together(a, b);
  relay.network.setLinks([unknown(two)]);
  await b.happened("disconnect one");
  const words = `it cannot be reached through the relay ${north.peer}: `;
  const reasons = ["it is not connected there", "the relay has not linked it"].map((reason) => words + reason);
  await expect.poll(() => b.network.traffic(one.peer)?.failure).toBeOneOf(reasons);
});

test("a linked neighbour that was not asked to relay brings nobody", async () => {
  const { two, relay, a, b } = await scene();
  await together(a, b);
  const guest = await peers.identity("guest");
  const node = await createLibp2p(plain(guest));
  try {
    a.network.setLinks([relay.neighbour(), unknown(two), contact(node)]);
    await expect.poll(() => node.getConnections().length).toBe(1);
    const stream = await node.getConnections()[0].newStream("/libp2p/circuit/relay/0.2.0/stop");
    await expect.poll(() => stream.status).toBe("reset");
    expect(a.network.addresses()).toEqual(b.network.addresses());
    expect(a.network.route(guest.peer).isRelay).toBe(false);
  } finally {
    await node.stop();
  }
});

test("a circuit that has reached its limit is made anew, by the two ends themselves", async () => {
  const [one, two, north] = [await peers.identity("one"), await peers.identity("two"), await peers.identity("north")];
  const relay = circuitRelayServer({ reservations: { defaultDataLimit: 12_000n } });
  const node = await createLibp2p({ ...plain(north), services: { relay } });
  try {
    const a = await peers.start(one, [contact(node), unknown(two)], { listen: [] });
    await expect.poll(() => a.network.addresses()).toEqual([peerThroughRelay(north.peer)]);
    const through = { peer: one.peer, addresses: a.network.addresses() };
    const b = await peers.start(two, [contact(node), through], { listen: [] });
    await together(a, b);
    for (let n = 0; n < 20; n++) b.network.send(one.peer, new Uint8Array(900));
    await Promise.all([a.happened("connect two", 2), b.happened("connect one", 2)]);
    b.network.send(one.peer, Uint8Array.of(7));
    await expect.poll(() => a.frames.at(-1)).toEqual(Uint8Array.of(7));
  } finally {
    await node.stop();
  }
});

test("a direct way takes over from the relay as soon as it is known, and the circuit is given up", async () => {
  const { one, two, north, relay, a, b } = await scene({ listen: ["/ip4/127.0.0.1/tcp/0"] });
  await together(a, b);
  expect(b.network.route(one.peer).via).toBe(north.peer);
  b.network.setLinks([relay.neighbour(), { peer: one.peer, addresses: a.network.addresses() }]);
  await Promise.all([a.happened("connect two", 2), b.happened("connect one", 2)]);
  expect([a.network.route(two.peer).via, b.network.route(one.peer).via]).toEqual([undefined, undefined]);
  await expect.poll(() => relay.network.relayTraffic()?.circuits).toBe(0);
});

test("a relay that is gone is named, and when it is back the two ends meet again", async () => {
  const { one, two, north, relay, a, b } = await scene();
  await together(a, b);
  const { addresses } = relay.neighbour();
  await relay.network.close();
  await Promise.all([a.happened("disconnect two"), b.happened("disconnect one")]);
  const failure = `it cannot be reached through the relay ${north.peer}: that device is not connected, or not linked here`;
  await expect.poll(() => b.network.traffic(one.peer)?.failure).toBe(failure);
  expect(a.network.addresses()).toEqual([]);
  await peers.start(north, [unknown(one), unknown(two)], { isRelay: true, listen: addresses });
  await Promise.all([a.happened("connect two", 2), b.happened("connect one", 2)]);
});
