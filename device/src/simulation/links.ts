// Links in memory: every direction carries one frame at a time, late, lost or cut as the weather says. All that happens is
// logged event by event; two runs are the same exactly if their digests are.

import type { Random } from "@fedkm/core";
import type { Clock, NetworkListener, PeerNetwork } from "../environment.ts";
import { frameLane } from "../wire/frames.ts";

const kinds = ["start", "connect", "disconnect", "arrive", "lose", "crash"] as const;
type EventKind = (typeof kinds)[number];

export interface SimulatedEvent {
  /** Milliseconds of simulated time. */
  readonly at: number;
  readonly kind: EventKind;
  readonly from: number;
  readonly to: number;
  /** The frame that arrived or was lost. */
  readonly frame: Uint8Array;
}

const nothing = new Uint8Array(0);

export function simulatedEventLog(now: () => number, onEvent?: (event: SimulatedEvent) => void) {
  let count = 0;
  let high = 0x811c9dc5;
  let low = 0x9e3779b9;
  const numbers = new Float64Array(4);
  const bytes = new Uint8Array(numbers.buffer);
  const absorb = (data: Uint8Array) => {
    for (let i = 0; i < data.length; i++) {
      high = Math.imul(high ^ data[i], 0x01000193);
      low = Math.imul((low << 5) | (low >>> 27), 0x85ebca6b) ^ data[i];
    }
  };
  return {
    note(kind: EventKind, from: number, to = from, frame: Uint8Array = nothing) {
      count++;
      numbers.set([now(), kinds.indexOf(kind), from, to]);
      absorb(bytes);
      absorb(frame);
      onEvent?.({ at: numbers[0], kind, from, to, frame });
    },
    /** Number and 64-bit hash of all events so far: times, devices and every byte of every frame. */
    digest: () => `${count} ${[high, low].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("")}`,
  };
}

export interface Weather {
  /** How long a frame takes, drawn evenly between the two. */
  delayMilliseconds: readonly [number, number];
  /** Share of frames that never arrive. */
  loss: number;
}

/** What a simulated device is called. */
export const simulatedPeer = (device: number) => `device-${device}`;

/** One direction of a link. */
interface LinkDirection {
  readonly from: LinkEnd;
  readonly to: LinkEnd;
  isCut: boolean;
  isBusy: boolean;
  /** Sent while the way was busy: the latest of each lane only. */
  readonly waiting: Map<number, Uint8Array>;
}

interface LinkEnd {
  readonly index: number;
  readonly name: string;
  /** By the name of the other end. */
  readonly ways: Map<string, LinkDirection>;
  listener: NetworkListener | undefined;
}

function joinEnds(neighbours: readonly ArrayLike<number>[]): LinkEnd[] {
  const ends = neighbours.map(
    (_, i): LinkEnd => ({ index: i, name: simulatedPeer(i), ways: new Map(), listener: undefined }),
  );
  neighbours.forEach((others, i) => {
    for (const to of Array.from(others, (j) => ends[j])) {
      ends[i].ways.set(to.name, { from: ends[i], to, isCut: false, isBusy: false, waiting: new Map() });
    }
  });
  return ends;
}

function isOpen({ from, to, isCut }: LinkDirection): boolean {
  return !isCut && from.listener !== undefined && to.listener !== undefined;
}

interface SimulatedLinksOptions {
  /** Of each device, by their numbers. */
  readonly neighbours: readonly ArrayLike<number>[];
  readonly clock: Clock;
  readonly weather: Weather;
  readonly random: Random;
  readonly log: ReturnType<typeof simulatedEventLog>;
}

// Long: one closure over what is under way.
export function simulatedLinks({ neighbours, clock, weather, random, log }: SimulatedLinksOptions) {
  const ends = joinEnds(neighbours);
  let frames = 0;
  let bytes = 0;
  let underWay = 0;

  const send = (way: LinkDirection, frame: Uint8Array) => {
    const { from, to } = way;
    way.isBusy = true;
    frames++;
    underWay++;
    bytes += frame.length;
    const [least, most] = weather.delayMilliseconds;
    const isLost = random() < weather.loss;
    clock.after(least + (most - least) * random(), () => {
      way.isBusy = false;
      underWay--;
      const arrives = isOpen(way) && !isLost;
      log.note(arrives ? "arrive" : "lose", from.index, to.index, frame);
      if (arrives) to.listener?.onFrame(from.name, frame);
      const [next] = way.waiting;
      if (next === undefined) return;
      way.waiting.delete(next[0]);
      if (isOpen(way)) send(way, next[1]);
      else way.waiting.clear();
    });
  };

  /** Both ends learn that the link stands, or that it does not. */
  const meet = (way: LinkDirection, kind: "connect" | "disconnect" = "connect") => {
    if (!isOpen(way)) return;
    const { from, to } = way;
    log.note(kind, from.index, to.index);
    const heard = kind === "connect" ? "onConnect" : "onDisconnect";
    from.listener?.[heard](to.name);
    to.listener?.[heard](from.name);
  };

  return {
    /** The network as device `i` sees it, from its start to `close`. */
    network: (i: number): PeerNetwork => ({
      self: ends[i].name,
      start: async (listener) => {
        ends[i].listener = listener;
        for (const way of ends[i].ways.values()) clock.after(0, () => meet(way));
      },
      send: (peer, frame) => {
        const way = ends[i].ways.get(peer);
        if (way === undefined || !isOpen(way)) return;
        if (way.isBusy) way.waiting.set(frameLane(frame), frame);
        else send(way, frame);
      },
      close: async () => {
        for (const way of ends[i].ways.values()) meet(way, "disconnect");
        ends[i].listener = undefined;
      },
    }),
    /** A link that is cut carries nothing, and both ends know. */
    setCut(i: number, j: number, isCut: boolean) {
      const ways = [ends[i].ways.get(ends[j].name), ends[j].ways.get(ends[i].name)];
      const [first] = ways;
      if (first === undefined || first.isCut === isCut) return;
      if (isCut) meet(first, "disconnect");
      for (const way of ways) if (way !== undefined) way.isCut = isCut;
      if (!isCut) meet(first);
    },
    /** Puts a frame on the link from `i` to `j`, whoever made it; it arrives if the link stands. */
    forge(i: number, j: number, frame: Uint8Array) {
      const way = ends[i].ways.get(ends[j].name);
      if (way !== undefined && isOpen(way)) send(way, frame);
    },
    /** Sent so far, in bytes too, and sent but not arrived. */
    frames: () => frames,
    bytes: () => bytes,
    underWay: () => underWay,
  };
}
