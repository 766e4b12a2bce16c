// Links in memory: every direction carries one frame at a time, late, lost or cut as the weather says.

import type { Random } from "@fedkm/core";
import type { Clock } from "../clock.ts";
import type { Network, NetworkListener } from "../network.ts";
import type { EventLog } from "./log.ts";

export interface Weather {
  /** Milliseconds a frame takes, drawn evenly between the two. */
  delay: readonly [number, number];
  /** Share of frames that never arrive. */
  loss: number;
}

/** One direction of a link. */
interface Way {
  readonly to: number;
  isBusy: boolean;
  /** Told while the way was busy: the latest only. */
  waiting: Uint8Array | undefined;
}

interface End {
  readonly ways: Map<number, Way>;
  listener: NetworkListener | undefined;
}

export interface Links {
  /** The network as device `i` sees it, from its start to `close`. */
  network(i: number): Network;
  /** A link that is cut carries nothing, and both ends know. */
  setCut(i: number, j: number, isCut: boolean): void;
  frames(): number;
  bytes(): number;
}

export const nameOf = (i: number) => `device-${i}`;

export function simulatedLinks(
  neighbours: readonly ArrayLike<number>[],
  clock: Clock,
  weather: Weather,
  random: Random,
  log: EventLog,
): Links {
  const ends = neighbours.map((others): End => {
    const ways = Array.from(others, (to): [number, Way] => [to, { to, isBusy: false, waiting: undefined }]);
    return { ways: new Map(ways), listener: undefined };
  });
  const indices = new Map(neighbours.map((_, i) => [nameOf(i), i]));
  const cut = new Set<string>();
  const key = (i: number, j: number) => (i < j ? `${i}-${j}` : `${j}-${i}`);
  const isOpen = (i: number, j: number) =>
    ends[i].listener !== undefined && ends[j].listener !== undefined && !cut.has(key(i, j));
  let frames = 0;
  let bytes = 0;

  const send = (from: number, way: Way, frame: Uint8Array) => {
    way.isBusy = true;
    frames++;
    bytes += frame.length;
    const [least, most] = weather.delay;
    const isLost = random() < weather.loss;
    clock.after(least + (most - least) * random(), () => {
      way.isBusy = false;
      const arrives = isOpen(from, way.to) && !isLost;
      log.note(arrives ? "arrive" : "lose", from, way.to, frame);
      if (arrives) ends[way.to].listener?.onFrame(nameOf(from), frame);
      const next = way.waiting;
      way.waiting = undefined;
      if (next !== undefined && isOpen(from, way.to)) send(from, way, next);
    });
  };

  const meet = (i: number, j: number) => {
    if (!isOpen(i, j)) return;
    log.note("connect", i, j);
    ends[i].listener?.onConnect(nameOf(j));
    ends[j].listener?.onConnect(nameOf(i));
  };

  const part = (i: number, j: number) => {
    log.note("disconnect", i, j);
    for (const [own, other] of [
      [i, j],
      [j, i],
    ]) {
      const way = ends[own].ways.get(other);
      if (way !== undefined) way.waiting = undefined;
      ends[own].listener?.onDisconnect(nameOf(other));
    }
  };

  return {
    network: (i) => ({
      self: nameOf(i),
      start: async (listener) => {
        ends[i].listener = listener;
        for (const j of ends[i].ways.keys()) clock.after(0, () => meet(i, j));
      },
      tell: (peer, frame) => {
        const way = ends[i].ways.get(indices.get(peer) ?? -1);
        if (way === undefined || !isOpen(i, way.to)) return;
        if (way.isBusy) way.waiting = frame;
        else send(i, way, frame);
      },
      close: async () => {
        for (const j of ends[i].ways.keys()) if (isOpen(i, j)) part(i, j);
        ends[i].listener = undefined;
      },
    }),
    setCut(i, j, isCut) {
      if (cut.has(key(i, j)) === isCut) return;
      if (isCut) {
        if (isOpen(i, j)) part(i, j);
        cut.add(key(i, j));
      } else {
        cut.delete(key(i, j));
        meet(i, j);
      }
    },
    frames: () => frames,
    bytes: () => bytes,
  };
}
