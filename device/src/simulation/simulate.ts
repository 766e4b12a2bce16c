// A whole network of devices in one process: the same loop, a simulated clock, links in memory. Seeded, so it can be rerun.

import { type Graph, type Matrix, matrix, objective, type Random, randomStream } from "@fedkm/core";
import { createDevice, type Device } from "../device.ts";
import { type Memory, type SavedState, volatileMemory } from "../memory.ts";
import type { Contract } from "../protocol.ts";
import { scaleRows } from "../scaling.ts";
import type { DeviceStatus } from "../status.ts";
import type { Study } from "../study.ts";
import { simulatedClock } from "./clock.ts";
import { simulatedLinks, type Weather } from "./links.ts";
import { eventLog, type SimulatedEvent } from "./log.ts";

export interface SimulationOptions {
  readonly study: Study;
  /** Of `study`: `await contractOf(study)`. */
  readonly contract: Contract;
  /** In the features' units, one for each device of the graph. */
  readonly datasets: readonly Matrix[];
  readonly graph: Graph;
  readonly seed: number;
  /** Default: 5 to 15 ms a frame, none lost. */
  readonly weather?: Partial<Weather>;
  /** Devices start within so many milliseconds. Default 1000. */
  readonly stagger?: number;
  /** Milliseconds between two updates of a device. Default 10. */
  readonly pace?: (device: number) => number;
  readonly onEvent?: (event: SimulatedEvent) => void;
}

export interface Simulation {
  now(): number;
  /** Lets so much time pass. */
  run(milliseconds: number): void;
  /** Until every device is settled and no frame is under way; returns whether that came within so many milliseconds. */
  settle(within: number): boolean;
  /** As it is from now on. */
  readonly weather: Weather;
  setCut(i: number, j: number, isCut: boolean): void;
  /** The process of a device ends without warning, or starts again from what it had kept. */
  crash(i: number): void;
  restart(i: number): void;
  status(i: number): DeviceStatus;
  /** As all devices have them now, in the scaled units of the study. */
  centroids(): Matrix[];
  /** GTVMin at `centroids()`. */
  objective(): number;
  readonly frames: number;
  readonly bytes: number;
  /** Number and hash of all events so far. */
  digest(): string;
}

/** Milliseconds between two looks at whether all have settled. */
const LOOK_MS = 100;

interface Place {
  device: Device | undefined;
  memory: Memory & { latest(): SavedState | undefined };
}

export function simulate(options: SimulationOptions): Simulation {
  const { study, contract, datasets, graph, seed, stagger = 1000, pace } = options;
  const weather: Weather = { delay: [5, 15], loss: 0, ...options.weather };
  const random: Random = randomStream(seed, "simulation");
  const clock = simulatedClock();
  const log = eventLog(clock.now, options.onEvent);
  const links = simulatedLinks(graph.neighbours, clock, weather, random, log);
  const networks = datasets.map((_, i) => links.network(i));
  const names = networks.map(({ self }) => self);

  const start = (i: number, epoch: number, saved?: SavedState): Place => {
    log.note("start", i);
    const memory = volatileMemory(epoch, saved);
    const device = createDevice({
      study,
      contract,
      network: networks[i],
      clock,
      memory,
      links: Array.from(graph.neighbours[i], (j) => names[j]),
      rows: datasets[i],
      seed: seed * 1_000_003 + i * 101,
      ...(pace === undefined ? {} : { pace: pace(i) }),
    });
    void device.start();
    return { device, memory };
  };
  const places: (Place | undefined)[] = datasets.map(() => undefined);
  datasets.forEach((_, i) => {
    clock.after(stagger * random(), () => {
      places[i] = start(i, 1);
    });
  });
  const run = (milliseconds: number) => {
    const until = clock.now() + milliseconds;
    while (clock.step(until));
  };
  const statusOf = (i: number) => {
    const status = places[i]?.device?.status();
    if (status === undefined) throw new RangeError(`device ${i} must be running to have a status`);
    return status;
  };
  const centroids = () => places.map((place) => matrix(place?.memory.latest()?.centroids ?? []));
  const scaled = datasets.map((rows) => scaleRows(study, rows));
  return {
    now: clock.now,
    run,
    settle(within) {
      const end = clock.now() + within;
      const isSettled = ({ device }: Place) => device === undefined || device.status().phase === "settled";
      while (clock.now() < end) {
        run(Math.min(LOOK_MS, end - clock.now()));
        if (links.underWay() === 0 && places.every((place) => place !== undefined && isSettled(place))) return true;
      }
      return false;
    },
    weather,
    setCut: links.setCut,
    crash(i) {
      log.note("crash", i);
      places[i]?.device?.stop();
      void networks[i].close();
      const place = places[i];
      if (place !== undefined) place.device = undefined;
    },
    restart(i) {
      const memory = places[i]?.memory;
      places[i] = start(i, (memory?.epoch ?? 0) + 1, memory?.latest());
    },
    status: statusOf,
    centroids,
    objective: () => objective(scaled, centroids(), graph, study),
    get frames() {
      return links.frames();
    },
    get bytes() {
      return links.bytes();
    },
    digest: log.digest,
  };
}
