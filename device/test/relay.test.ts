// Two devices that nobody can dial, and a linked one that relays between them: what passes, what the relay sees, who not.

import { afterEach, expect, test } from "vitest";
import type { Identity } from "../src/libp2p.ts";
import { throughRelay } from "../src/peer.ts";
import { type Loopback, Peers } from "./loopback.ts";

const peers = new Peers();
afterEach(() => peers.close());

const unknown = ({ peer }: Identity) => ({ peer, addresses: [] });

/** A relay that is linked with one and two, which are linked with each other through it. */
async function scene(onRelayed?: (bytes: Uint8Array) => void) {
  const [one, two, north] = [await peers.identity("one"), await peers.identity("two"), await peers.identity("north")];
  const relayOptions = { isRelay: true, ...(onRelayed === undefined ? {} : { onRelayed }) };
  const relay = await peers.start(north, [unknown(one), unknown(two)], relayOptions);
  const a = await peers.start(one, [relay.neighbour(), unknown(two)], { listen: [] });
  const through = { peer: one.peer, addresses: [throughRelay(north.peer)] };
  const b = await peers.start(two, [relay.neighbour(), through], { listen: [] });
  return { one, two, north, relay, a, b };
}

const together = (a: Loopback, b: Loopback) => Promise.all([a.happened("connect two"), b.happened("connect one")]);

test("devices that listen on nothing hear each other through a relay, which sees neither frames nor their parts", async () => {
  const seen: Uint8Array[] = [];
  const { one, two, north, relay, a, b } = await scene((bytes) => seen.push(bytes.slice()));
  await together(a, b);
  const frame = Uint8Array.from({ length: 900 }, (_, n) => (n * 37) % 251);
  a.network.send(two.peer, frame);
  b.network.send(one.peer, frame);
  await Promise.all([a.happened("frame two"), b.happened("frame one")]);
  expect(b.frames).toEqual([frame]);
  expect(a.network.route(two.peer)).toEqual({ via: north.peer, relays: [throughRelay(north.peer)].map(() => north.peer), isRelay: false });
  expect(a.network.route(north.peer)).toEqual({ via: undefined, relays: [], isRelay: true });
  expect(a.network.addresses()).toEqual([throughRelay(north.peer)]);
  const carried = relay.network.relayTraffic();
  expect(carried).toMatchObject({ reservations: 2 });
  expect(carried?.circuits).toBeGreaterThan(0);
  // All of it went through the relay, and none of it can be read there.
  const bytes = Buffer.concat(seen);
  expect(carried?.bytes).toBe(bytes.length);
  expect(bytes.length).toBeGreaterThan(2 * frame.length);
  for (let at = 0; at < frame.length; at += 8) expect(bytes.includes(frame.subarray(at, at + 8))).toBe(false);
});
