// Attacks by neighbours that do more than read: they move as they like, repeat old frames, or wait for an old backup.

import { type Matrix, stack, takeRows } from "@fedkm/core";
import {
  createDevice,
  type Device,
  encodeCentroidsFrame,
  type NetworkListener,
  type PeerNetwork,
  scaleRows,
  volatileMemory,
} from "@fedkm/device";
import {
  type CentroidsFrame,
  decodeFrame,
  type RecordedEvent,
  recordedNetwork,
  type SavedState,
  simulatedClock,
} from "@fedkm/device/inspect";
import { inversionSnapshots } from "./inversion.ts";
import {
  groupsFound,
  isolatedRows,
  judgedGroups,
  judgedRows,
  type PublishedGroup,
  rowSpaceOutcome,
  rowsOutcome,
} from "./judge.ts";
import { observedBy } from "./observation.ts";
import type { Outcome } from "./outcome.ts";
import { rowClaims } from "./rowTracking.ts";
import type { AttackScenario } from "./scenario.ts";

interface DiskCopy {
  readonly state: SavedState | undefined;
  readonly history: Uint8Array | undefined;
}

type CaptiveDevice = ReturnType<typeof captiveDevice>;

const peer = "neighbour";

/**
 * One real device whose only neighbour is an attacker, which says what it likes, when it likes, and notes the answers. It
 * has had the time to send something. One long function, because all that it returns shares one state.
 */
function captiveDevice({ study, contract, seed, datasets }: AttackScenario) {
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
    device = createDevice({ study, contract, network, clock, memory, links: [peer], rows: own, seed });
    void device.start();
    listener?.onConnect(peer);
  };
  const run = (milliseconds: number) => {
    const until = clock.now() + milliseconds;
    while (clock.step(until));
  };
  start({ state: undefined, history: undefined }, datasets[0]);
  run(FIRST_MILLISECONDS);
  return {
    self,
    events,
    /** A frame with these centroids, from the neighbour. */
    say(centroids: Float64Array) {
      // Attackers repeat what the device says of openings, so that it counts them among its own kind.
      const tag = heard?.tag ?? { number: 0, table: 0, start: 0 };
      const present = new Array<boolean>(contract.k).fill(true);
      const stamp = { epoch: 1, sequence: sequence++ };
      listener?.onFrame(peer, encodeCentroidsFrame(contract, stamp, { tag, centroids, present, sketches: [] }));
    },
    /** A frame that was made before. */
    hand: (frame: Uint8Array) => listener?.onFrame(peer, frame),
    run,
    setRows: (own: Matrix) => device?.setRows(own),
    /** The device's last centroids; undefined: it has sent none. */
    last: () => heard?.centroids,
    status: () => (device as Device).status(),
    /** What the device would have on its disk now. */
    copy: (): DiskCopy => ({ state: memory.latest(), history: memory.latestHistory() }),
    /** The process ends, and starts again with this on its disk. */
    restart(copy: DiskCopy, own: Matrix) {
      device?.stop();
      start(copy, own);
    },
  };
}

/** From the start of a device until it has sent something, and until it has answered a neighbour. */
const FIRST_MILLISECONDS = 1_500;
const ANSWER_MILLISECONDS = 60;
/** Of a probe, each a share of the way from one centroid to the next, and how far the others tremble meanwhile. */
const STEPS = 60;
const REACH = 0.8;
const TREMBLE = 0.002;

export function activeAttacks(scene: AttackScenario): Outcome[] {
  return [inversion(scene), ...probing(scene), restoredBackup(scene), replay(scene)];
}

/** The only neighbour of a device agrees with it but for a little, in three frames. */
function inversion(scene: AttackScenario): Outcome {
  const device = captiveDevice(scene);
  for (const step of [0.01, 0.008, 0.005]) {
    const centroids = device.last();
    if (centroids === undefined) break;
    sendMoved(device, centroids, (_, d) => step * scene.ranges[d]);
  }
  const { messages } = observedBy(scene.contract, device.self, device.events);
  const { history } = device.copy();
  const truth = judgedRows(scene.study, history) ?? { points: scaleRows(scene.study, scene.datasets[0]) };
  const read = { messages, snapshots: inversionSnapshots(messages, scene.rules) };
  return { attack: "inversion", groups: groupsFound(read, { ...truth, ranges: scene.ranges }) };
}

/** Sends the centroids, each moved by so much, and waits for the answer. */
function sendMoved(device: CaptiveDevice, centroids: Matrix, by: (cluster: number, feature: number) => number): void {
  const { data, cols } = centroids;
  device.say(data.map((x, i) => x + by(Math.floor(i / cols), i % cols)));
  device.run(ANSWER_MILLISECONDS);
}

/** Moves a border between two clusters across the rows, in steps so small that they cross it one after the other. */
function probing(scene: AttackScenario): Outcome[] {
  const device = captiveDevice(scene);
  const start = device.last();
  if (start !== undefined) sweep(device, start, scene.ranges);
  return [probedRows("probing", scene, device), rowSpaceOutcome(published(scene, device, 1, scene.datasets[0]))];
}

/** The groups that the device sent in one of its starts, by the numbers of its rows. */
function published(
  { study, contract, rules }: AttackScenario,
  device: CaptiveDevice,
  epoch: number,
  rows: Matrix,
): PublishedGroup[] {
  const truth = judgedRows(study, device.copy().history) ?? { points: scaleRows(study, rows) };
  const { messages } = observedBy(contract, device.self, device.events);
  const own = messages.filter(({ stamp }) => stamp.epoch === epoch);
  return own.flatMap((message) => judgedGroups(message, truth, rules) ?? []);
}

function sweep(device: CaptiveDevice, start: Matrix, ranges: Float64Array, direction: 1 | -1 = 1): void {
  const { data, cols, rows: k } = start;
  if (k < 2) return;
  const target = closest(start, 0);
  for (let step = 1; step <= STEPS; step++) {
    const share = (direction * REACH * step) / STEPS;
    // Only a centroid that moves says how many rows it stands on.
    const tremble = (c: number, d: number) => ((step + c) % 2 === 0 ? TREMBLE : -TREMBLE) * ranges[d];
    sendMoved(device, start, (c, d) => (c === 0 ? share * (data[target * cols + d] - data[d]) : tremble(c, d)));
  }
}

function closest({ data, rows, cols }: Matrix, from: number): number {
  const squares = Array.from({ length: rows }, (_, c) => {
    if (c === from) return Number.POSITIVE_INFINITY;
    return data.slice(c * cols, (c + 1) * cols).reduce((sum, x, d) => sum + (x - data[from * cols + d]) ** 2, 0);
  });
  return squares.indexOf(Math.min(...squares));
}

function probedRows(attack: Outcome["attack"], scene: AttackScenario, device: CaptiveDevice): Outcome {
  const { study, rules, contract } = scene;
  const { messages } = observedBy(contract, device.self, device.events);
  const claims = rowClaims(messages, inversionSnapshots(messages, rules), rules, study.k * study.minimum);
  const points = scaleRows(study, stack([scene.datasets[0], takeRows(scene.apart, [0])]));
  return rowsOutcome(attack, claims, { points, ranges: scene.ranges });
}

/** A device gets a row and sends what comes of it; then its disk and its data are put back to a copy from before. */
function restoredBackup(scene: AttackScenario): Outcome {
  const { datasets, apart, ranges } = scene;
  const device = captiveDevice(scene);
  const start = device.last();
  if (start === undefined) return { attack: "restored backup", rows: 0 };
  const nudge = () => {
    for (const step of [0.01, 0.008, 0.006, 0.004]) sendMoved(device, start, (c, d) => (c + 1) * step * ranges[d]);
  };
  nudge();
  const copy = device.copy();
  const more = stack([datasets[0], takeRows(apart, [0])]);
  device.setRows(more);
  device.run(FIRST_MILLISECONDS);
  nudge();
  sweep(device, start, ranges);
  const groups = published(scene, device, 1, more);
  device.restart(copy, datasets[0]);
  device.run(FIRST_MILLISECONDS);
  nudge();
  // The other way, so that the two lives of the device tell other rows apart.
  sweep(device, start, ranges, -1);
  const { smallestClass } = isolatedRows([...groups, ...published(scene, device, 2, datasets[0])]);
  const outcome = probedRows("restored backup", scene, device);
  return Number.isFinite(smallestClass) ? { ...outcome, smallestClass } : outcome;
}

/** Old frames of a neighbour come again. They count as found rows if the device heeds them. */
function replay(scene: AttackScenario): Outcome {
  const device = captiveDevice(scene);
  const start = device.last();
  if (start === undefined) return { attack: "replay", rows: 0 };
  for (const step of [0.05, 0.01, 0]) sendMoved(device, start, (_, d) => step * scene.ranges[d]);
  device.run(FIRST_MILLISECONDS);
  const before = JSON.stringify(device.status().centroids);
  const old = device.events.filter(({ kind }) => kind === "received").slice(0, 2);
  for (const { frame } of old) device.hand(frame);
  device.run(FIRST_MILLISECONDS);
  const isHeeded = JSON.stringify(device.status().centroids) !== before;
  return { attack: "replay", rows: isHeeded ? 1 : 0 };
}
