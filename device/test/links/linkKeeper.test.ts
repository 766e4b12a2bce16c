// The keeper of links on a transport that does what the test says: when it opens, waits, gives up, and whom it admits.

import { expect, test } from "vitest";
import { frameStreamBytes } from "../../src/links/frameStream.ts";
import { type ByteStream, linkKeeper, NotLinkedBackError, type StreamListener } from "../../src/links/linkKeeper.ts";
import { manualClock } from "./manualClock.ts";

/** A transport that reaches a peer only while the test says so. */
function rig() {
  const clock = manualClock();
  const log: string[] = [];
  const reachable = new Set<string>();
  const attempts: number[] = [];
  const opened: { peer: string; listener: StreamListener; sent: Uint8Array[]; connection: string | undefined }[] = [];
  /** The one that streams are opened on. */
  const newest = { connection: "first" };
  const wire = (name: string, sent: Uint8Array[] = []): ByteStream => ({
    connection: newest.connection,
    send: (bytes) => sent.push(bytes),
    abort: (reason) => log.push(`${name} aborted: ${reason}`),
  });
  const keeper = linkKeeper({
    clock,
    maxFrame: 100,
    random: () => 1,
    transport: {
      async open(peer, listener, _, connection) {
        attempts.push(clock.now());
        if (peer === "one that has not linked back") throw new NotLinkedBackError();
        if (!reachable.has(peer)) throw new Error("connection refused");
        const sent: Uint8Array[] = [];
        opened.push({ peer, listener, sent, connection });
        return wire(`stream to ${peer}`, sent);
      },
      hangUp: (peer) => log.push(`hung up ${peer}`),
    },
    listener: {
      onConnect: (peer) => log.push(`connect ${peer}`),
      onDisconnect: (peer) => log.push(`disconnect ${peer}`),
      onFrame: (peer, frame) => log.push(`frame of ${frame.length} from ${peer}`),
    },
    onRefuse: (peer, reason) => log.push(`refused ${peer}: ${reason}`),
  });
  return { clock, log, reachable, attempts, opened, wire, newest, keeper };
}

/** A dial that ends only when it is given up. */
function unanswered(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}

/** Lets promises of the keeper settle. */
async function settled(): Promise<void> {
  for (let n = 0; n < 10; n++) await Promise.resolve();
}

test("a peer that is down is tried after 1 s, then after as long as it was down, at most every 5 min, and says why", async () => {
  const { clock, attempts, keeper } = rig();
  keeper.add("b");
  const waits: number[] = [];
  for (let n = 0; n < 12; n++) {
    await settled();
    expect(attempts).toHaveLength(n + 1);
    const [next] = clock.due();
    waits.push((next - clock.now()) / 1_000);
    clock.advance(next - clock.now());
  }
  expect(waits).toEqual([1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  expect(keeper.traffic("b")?.failure).toBe("connection refused");
});

test("a peer that is there and has not linked back is tried every 30 s at the latest", async () => {
  const { clock, attempts, keeper } = rig();
  keeper.add("one that has not linked back");
  const waits: number[] = [];
  for (let n = 0; n < 8; n++) {
    await settled();
    expect(attempts).toHaveLength(n + 1);
    const [next] = clock.due();
    waits.push((next - clock.now()) / 1_000);
    clock.advance(next - clock.now());
  }
  expect(waits).toEqual([1, 1, 2, 4, 8, 16, 30, 30]);
});

test("wake opens at once where a connection came in, and never a second stream", async () => {
  const { clock, log, reachable, opened, keeper } = rig();
  keeper.add("b");
  await settled();
  reachable.add("b");
  keeper.wake("b");
  keeper.wake("b");
  await settled();
  keeper.wake("b");
  await settled();
  expect(log).toEqual(["connect b"]);
  expect(opened).toHaveLength(1);
  expect(clock.due()).toEqual([]);
  keeper.send("b", new Uint8Array(10));
  expect(opened[0].sent).toEqual([frameStreamBytes(new Uint8Array(10))]);
});

test("a stream that breaks is reported once and opened again; what it carried still counts", async () => {
  const { clock, log, reachable, opened, keeper } = rig();
  reachable.add("b");
  keeper.add("b");
  await settled();
  keeper.send("b", new Uint8Array(10));
  clock.advance(60_000);
  opened[0].listener.onClose();
  opened[0].listener.onClose();
  keeper.send("b", new Uint8Array(10));
  clock.advance(1_000);
  await settled();
  keeper.send("b", new Uint8Array(20));
  expect(log).toEqual(["connect b", "disconnect b", "connect b"]);
  expect(keeper.traffic("b")?.sent).toEqual({ frames: 2, bytes: 32 });
});

test("strangers are not admitted, neither as connection nor as stream", () => {
  const { keeper, wire } = rig();
  expect(keeper.admits("stranger")).toBe(false);
  expect(keeper.accept("stranger", wire("stream of a stranger"))).toBeUndefined();
});

test("remove hangs up, aborts what is under way, and admits no more", async () => {
  const { clock, log, reachable, keeper } = rig();
  reachable.add("b");
  keeper.add("b");
  await settled();
  keeper.remove("b");
  expect(log).toEqual(["connect b", "disconnect b", "hung up b"]);
  expect(keeper.admits("b")).toBe(false);
  expect(clock.due()).toEqual([]);
});

test("a peer that breaks the rules is kept away for 1 min, then 2, and comes back", async () => {
  const { clock, log, reachable, wire, keeper } = rig();
  reachable.add("b");
  keeper.add("b");
  await settled();
  for (const minutes of [1, 2]) {
    keeper.accept("b", wire("stream of b"))?.onBytes(Uint8Array.of(0, 0));
    expect(log.slice(-3)).toEqual(["refused b: a frame must have at least 1 byte, got 0", "disconnect b", "hung up b"]);
    expect(keeper.admits("b")).toBe(false);
    clock.advance(minutes * 60_000 - 1);
    expect(keeper.admits("b")).toBe(false);
    clock.advance(1);
    expect(keeper.admits("b")).toBe(true);
    await settled();
    expect(log.at(-1)).toBe("connect b");
  }
});

test("a new stream from a peer replaces its old one, and more than 120 in a minute are refused", async () => {
  const { log, wire, keeper } = rig();
  keeper.add("b");
  await settled();
  const first = keeper.accept("b", wire("first"));
  const second = keeper.accept("b", wire("second"));
  expect(log).toEqual(["first aborted: replaced by a newer stream"]);
  first?.onClose();
  first?.onBytes(frameStreamBytes(new Uint8Array(5)));
  second?.onBytes(frameStreamBytes(new Uint8Array(6)));
  expect(log.at(-1)).toBe("frame of 6 from b");
  for (let n = 0; n < 118; n++) expect(keeper.accept("b", wire("next"))).toBeDefined();
  expect(keeper.accept("b", wire("last"))).toBeUndefined();
  expect(log).toContain("refused b: more than 120 streams were opened within a minute");
});

test("a peer that comes back on another connection is sent to on that one at once", async () => {
  const { log, reachable, opened, wire, newest, keeper } = rig();
  reachable.add("b");
  keeper.add("b");
  await settled();
  keeper.accept("b", wire("old"));
  newest.connection = "second";
  keeper.accept("b", wire("new"));
  await settled();
  expect(log).toEqual([
    "connect b",
    "old aborted: replaced by a newer stream",
    "disconnect b",
    "stream to b aborted: the peer came back on another connection",
    "connect b",
  ]);
  expect(opened.map(({ connection }) => connection)).toEqual([undefined, "second"]);
  // Both send on the same one now: nothing more to follow.
  keeper.accept("b", wire("newer"));
  await settled();
  expect(opened).toHaveLength(2);
});

test("ends that send on different connections do not chase each other", async () => {
  const { reachable, opened, wire, newest, keeper } = rig();
  reachable.add("b");
  keeper.add("b");
  await settled();
  newest.connection = "second";
  keeper.accept("b", wire("on the second"));
  for (const connection of ["third", "fourth"]) {
    newest.connection = connection;
    keeper.accept("b", wire(`on the ${connection}`));
    await settled();
  }
  expect(opened).toHaveLength(1);
});

test("a peer that comes to us during an attempt is sent to at once, not after the wait that follows it", async () => {
  const clock = manualClock();
  const connected: number[] = [];
  let isHere = false;
  const keeper = linkKeeper({
    clock,
    maxFrame: 100,
    random: () => 1,
    transport: {
      open: (_, __, signal) =>
        isHere ? Promise.resolve({ connection: "theirs", send: () => {}, abort: () => {} }) : unanswered(signal),
      hangUp: () => {},
    },
    listener: { onConnect: () => connected.push(clock.now()), onDisconnect: () => {}, onFrame: () => {} },
    onRefuse: () => {},
  });
  keeper.add("b");
  clock.advance(4_000);
  await settled();
  isHere = true;
  keeper.wake("b", true);
  await settled();
  expect(connected).toEqual([4_000]);
  keeper.close();
});

test("accidents that are more than an hour apart are punished alike", async () => {
  const { clock, reachable, wire, keeper } = rig();
  reachable.add("b");
  keeper.add("b");
  await settled();
  for (let n = 0; n < 3; n++) {
    keeper.accept("b", wire("stream of b"))?.onBytes(Uint8Array.of(0, 0));
    clock.advance(60_000);
    expect(keeper.admits("b")).toBe(true);
    clock.advance(3_700_000);
    await settled();
  }
});

test("an attempt that nobody answers is given up after 30 s", async () => {
  const clock = manualClock();
  let given: unknown;
  const keeper = linkKeeper({
    clock,
    maxFrame: 100,
    random: () => 1,
    transport: {
      open: (_, __, signal) => unanswered(signal),
      hangUp: () => {},
    },
    listener: { onConnect: () => {}, onDisconnect: () => {}, onFrame: () => {} },
    onRefuse: (_, reason) => {
      given = reason;
    },
  });
  keeper.add("b");
  clock.advance(30_000);
  await settled();
  expect(given).toBeUndefined();
  expect(keeper.traffic("b")?.failure).toBe("nobody answered");
  expect(clock.due()).toEqual([31_000]);
});
