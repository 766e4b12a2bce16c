// Which neighbours are asked to relay, and what is tried again once a minute.

import { expect, test } from "vitest";
import { relays } from "../../src/links/relays.ts";
import { manualClock } from "./manualClock.ts";

/** Neighbours that relay, refuse or fail, by name; what was asked of whom. */
function scene(answers: Record<string, boolean | Error>) {
  const clock = manualClock();
  const events: string[] = [];
  const reserved = new Set<string>();
  const relayedPeers: string[] = [];
  const helpers = relays({
    clock,
    async reserve(peer) {
      events.push(`ask ${peer}`);
      const answer = answers[peer];
      if (answer instanceof Error) throw answer;
      if (answer) reserved.add(peer);
      return answer;
    },
    isReserved: (peer) => reserved.has(peer),
    onReserved: (peer) => events.push(`reserved ${peer}`),
    relayedPeers: () => relayedPeers,
    tryDirectly: (peer) => events.push(`try ${peer}`),
  });
  return { clock, events, reserved, relayedPeers, helpers };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("ask gives an address through a neighbour that relays, and leaves one that does not alone", async () => {
  const { clock, events, helpers } = scene({ north: true, south: false });
  helpers.ask("north");
  helpers.ask("south");
  await settled();
  expect(helpers.addresses()).toEqual(["/p2p/north/p2p-circuit"]);
  clock.advance(600_000);
  expect(events).toEqual(["ask north", "ask south", "reserved north"]);
});

test("ask is repeated every minute for a reservation that failed or was lost, until the neighbour is gone", async () => {
  const answers: Record<string, boolean | Error> = { north: new Error("busy"), west: true };
  const { clock, events, reserved, helpers } = scene(answers);
  helpers.ask("north");
  helpers.ask("west");
  await settled();
  reserved.delete("west");
  expect(helpers.addresses()).toEqual([]);
  answers.north = true;
  clock.advance(60_000);
  await settled();
  expect(events.slice(2)).toEqual(["reserved west", "ask north", "ask west", "reserved north", "reserved west"]);
  helpers.forget("north");
  helpers.forget("west");
  clock.advance(60_000);
  expect(clock.due()).toEqual([]);
});

test("look tries relayed neighbours directly once a minute, and rests when there are none", () => {
  const { clock, events, relayedPeers, helpers } = scene({});
  relayedPeers.push("south");
  helpers.look();
  helpers.look();
  clock.advance(120_000);
  expect(events).toEqual(["try south", "try south"]);
  relayedPeers.pop();
  clock.advance(60_000);
  expect(clock.due()).toEqual([]);
  helpers.look();
  helpers.close();
  expect(clock.due()).toEqual([]);
});
