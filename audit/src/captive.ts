// One real device among neighbours that are all attackers: they say what they like, when they like, and note the answers.

import type { Matrix } from "@fedkm/core";
import type { Device } from "../../device/src/loop/device.ts";
import { createDevice } from "../../device/src/loop/personalLoop.ts";
import { type SavedState, volatileMemory } from "../../device/src/loop/savedState.ts";
import type { DeviceStatus } from "../../device/src/loop/status.ts";
import type { NetworkListener, PeerNetwork } from "../../device/src/network.ts";
import { simulatedClock } from "../../device/src/simulation/clock.ts";
import type { Study } from "../../device/src/study/study.ts";
import { type RecordedEvent, recordedNetwork } from "../../device/src/wire/recording.ts";
import {
  type CentroidsFrame,
  type Contract,
  decodeFrame,
  encodeCentroidsFrame,
} from "../../device/src/wire/studyFrames.ts";

export interface CaptiveDevice {
  readonly self: string;
  readonly events: readonly RecordedEvent[];
  /** A frame with these centroids, from this neighbour. */
  say(peer: string, centroids: Float64Array): void;
  /** A frame that was made before. */
  hand(peer: string, frame: Uint8Array): void;
  run(milliseconds: number): void;
  setRows(rows: Matrix): void;
  /** The device's last centroids; undefined: it has sent none. */
  last(): Matrix | undefined;
  status(): DeviceStatus;
  /** What the device would have on its disk now. */
  copy(): DiskCopy;
  /** The process ends, and starts again with this on its disk. */
  restart(copy: DiskCopy, rows: Matrix): void;
}

interface DiskCopy {
  readonly state: SavedState | undefined;
  readonly history: Uint8Array | undefined;
}

export interface CaptiveOptions {
  readonly study: Study;
  readonly contract: Contract;
  readonly rows: Matrix;
  readonly seed: number;
  readonly peers: readonly string[];
}

export function captiveDevice({ study, contract, rows, seed, peers }: CaptiveOptions): CaptiveDevice {
  const clock = simulatedClock();
  const events: RecordedEvent[] = [];
  const self = "device";
  let listener: NetworkListener | undefined;
  let heard: CentroidsFrame | undefined;
  let sequence = 0;
  let epoch = 0;
  const plain: PeerNetwork = {
    self,
    start: async (started) => {
      listener = started;
    },
    send(_, frame) {
      const decoded = decodeFrame(contract, frame);
      if (decoded.kind === "centroids") heard = decoded;
    },
    close: async () => {},
  };
  const network = recordedNetwork(plain, clock, (event) => events.push(event));
  let memory = volatileMemory(0);
  let device: Device | undefined;
  const start = ({ state, history }: DiskCopy, own: Matrix) => {
    epoch++;
    memory = volatileMemory(epoch, state, history);
    device = createDevice({ study, contract, network, clock, memory, links: peers, rows: own, seed });
    void device.start();
    for (const peer of peers) listener?.onConnect(peer);
  };
  const run = (milliseconds: number) => {
    const until = clock.now() + milliseconds;
    while (clock.step(until));
  };
  start({ state: undefined, history: undefined }, rows);
  return {
    self,
    events,
    say(peer, centroids) {
      // Attackers repeat what the device says of openings, so that it counts them among its own kind.
      const tag = heard?.tag ?? { number: 0, table: 0, seed: 0 };
      const present = new Array<boolean>(contract.k).fill(true);
      const stamp = { epoch: 1, sequence: sequence++ };
      listener?.onFrame(peer, encodeCentroidsFrame(contract, stamp, { tag, centroids, present, sketches: [] }));
    },
    hand: (peer, frame) => listener?.onFrame(peer, frame),
    run,
    setRows: (own) => device?.setRows(own),
    last: () => heard?.centroids,
    status: () => (device as Device).status(),
    copy: () => ({ state: memory.latest(), history: memory.latestHistory() }),
    restart(copy, own) {
      device?.stop();
      start(copy, own);
    },
  };
}
