// News about keys over simulated links: they arrive whatever is lost, wait for whoever is away, and then there is silence.

import { randomStream } from "@fedkm/core";
import { expect, test } from "vitest";
import type { NetworkListener, PeerNetwork } from "../../src/environment.ts";
import { type KeyExchange, type KeyKnowledge, keyExchange } from "../../src/keys/exchange.ts";
import {
  encodeSuccessors,
  latestSuccessor,
  makeRevocation,
  makeSuccessor,
  type Revocation,
  type Successor,
} from "../../src/keys/statements.ts";
import { simulatedClock } from "../../src/simulation/clock.ts";
import { simulatedEventLog, simulatedLinks } from "../../src/simulation/links.ts";
import { identity } from "./identities.ts";

const ids = [1, 2, 3, 4].map(identity);
const next = identity(9);

/** A desk without files: it follows every statement, and keeps every revocation. */
interface Place extends KeyKnowledge {
  readonly knownAs: Map<string, string>;
  readonly list: Map<string, Revocation>;
  readonly frames: number[];
  exchange: KeyExchange;
}

function line(size: number, loss: number) {
  const clock = simulatedClock();
  const log = simulatedEventLog(clock.now);
  const weather = { delayMilliseconds: [5, 15] as const, loss };
  const neighbours = Array.from({ length: size }, (_, i) => [i - 1, i + 1].filter((j) => j >= 0 && j < size));
  const links = simulatedLinks({ neighbours, clock, weather, random: randomStream(7, "keys"), log });
  const places = neighbours.map((_, i) => place(links.network(i)));
  function place(network: PeerNetwork): Place {
    const heard: Place = {
      knownAs: new Map(),
      list: new Map(),
      frames: [],
      successorsFor: () => [],
      revocations: () => [...heard.list.values()],
      onConnect: () => {},
      async follow(peer: string, successors: readonly Successor[]) {
        heard.knownAs.set(peer, latestSuccessor(ids[Number(peer.at(-1))].peer, successors));
        return heard.knownAs.get(peer);
      },
      onKnown: () => {},
      onRevocations(_, revocations) {
        const before = heard.list.size;
        for (const one of revocations) heard.list.set(`${one.signer} ${one.revoked}`, one);
        if (heard.list.size > before) heard.exchange.announce();
      },
      exchange: undefined as unknown as KeyExchange,
    };
    heard.exchange = keyExchange(network, clock, heard);
    return heard;
  }
  const start = (i: number) => {
    const { frames, exchange } = places[i];
    const listener: NetworkListener = {
      onConnect() {},
      onDisconnect() {},
      onFrame: (_, { length }) => frames.push(length),
    };
    void exchange.start(listener);
  };
  /** Answers come from promises, which a simulated clock does not wait for. */
  const run = async (milliseconds: number) => {
    for (const end = clock.now() + milliseconds; clock.step(end); ) await null;
  };
  return { links, places, start, run };
}

test("a statement is sent until it is answered, whatever is lost, and to a device that returns after weeks", async () => {
  const { links, places, start, run } = line(2, 0.6);
  const [north] = places;
  const successor = makeSuccessor(ids[0], next, 5);
  let isKnown = false;
  north.successorsFor = () => (isKnown ? [] : [successor]);
  north.onKnown = (_, known) => {
    isKnown = known === next.peer;
  };
  start(0);
  await run(30 * 86_400_000);
  expect(links.frames()).toBe(0);
  start(1);
  await run(86_400_000);
  expect(places[1].knownAs.get("device-0")).toBe(next.peer);
  expect(isKnown).toBe(true);
  const sent = links.frames();
  await run(86_400_000);
  expect(links.frames()).toBe(sent);
});

test("a revocation travels along a line of devices, waits for the last one, and everybody is silent afterwards", async () => {
  const { links, places, start, run } = line(4, 0.3);
  for (const i of [0, 1, 2]) start(i);
  const revocation = makeRevocation(ids[0], ids[3].peer, "lost", 5);
  await run(1000);
  places[0].list.set(`${revocation.signer} ${revocation.revoked}`, revocation);
  places[0].exchange.announce();
  await run(3_600_000);
  expect(places.map(({ list }) => list.size)).toEqual([1, 1, 1, 0]);
  start(3);
  await run(3_600_000 * 6);
  expect(places.map(({ list }) => [...list.values()][0])).toEqual([revocation, revocation, revocation, revocation]);
  const sent = links.frames();
  await run(86_400_000);
  expect(links.frames()).toBe(sent);
});

test("frames about keys that are malformed or too many are the device's to refuse", async () => {
  const { links, places, start, run } = line(2, 0);
  start(0);
  start(1);
  await run(100);
  const frame = encodeSuccessors([makeSuccessor(ids[0], next, 5)]);
  links.forge(0, 1, frame.subarray(0, 99));
  for (let n = 0; n < 40; n++) links.forge(0, 1, frame);
  await run(1000);
  expect(places[1].frames.filter((length) => length === 99)).toHaveLength(1);
  // The malformed one may have been among the sixteen that are read at once.
  expect([24, 25]).toContain(places[1].frames.filter((length) => length === frame.length).length);
});
