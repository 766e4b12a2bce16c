// Tries the store on a disk in memory: power lost after every call, every byte flipped, every write failing.

import { type Disk, openStore } from "@fedkm/device/daemon";
import { type SavedState, simulatedClock } from "@fedkm/device/inspect";

/** File contents by path. */
export type Contents = ReadonlyMap<string, Uint8Array>;

type Call =
  | { readonly kind: "create"; readonly path: string }
  | { readonly kind: "write"; readonly path: string; readonly bytes: Uint8Array }
  | { readonly kind: "sync"; readonly path: string }
  | { readonly kind: "rename"; readonly path: string; readonly to: string }
  | { readonly kind: "remove"; readonly path: string }
  | { readonly kind: "syncFolder"; readonly path: string };

interface SimulatedDisk extends Disk {
  readonly contents: Contents;
  readonly calls: readonly Call[];
}

/** `fail` may throw instead of the call with this number. */
export function simulatedDisk(start: Contents = new Map(), fail: (call: number) => void = () => {}): SimulatedDisk {
  const contents = new Map(start);
  const calls: Call[] = [];
  const note = (call: Call) => {
    fail(calls.length);
    calls.push(call);
  };
  const newFile = (path: string) => ({
    async write(bytes: Uint8Array) {
      note({ kind: "write", path, bytes });
      contents.set(path, bytes.slice());
    },
    sync: async () => note({ kind: "sync", path }),
    close: async () => {},
  });
  return {
    contents,
    calls,
    read: async (path) => contents.get(path)?.slice(),
    async create(path) {
      if (contents.has(path)) throw Object.assign(new Error(`EEXIST: ${path}`), { code: "EEXIST" });
      note({ kind: "create", path });
      contents.set(path, new Uint8Array(0));
      return newFile(path);
    },
    async rename(path, to) {
      note({ kind: "rename", path, to });
      contents.set(to, contents.get(path) as Uint8Array);
      contents.delete(path);
    },
    async remove(path) {
      note({ kind: "remove", path });
      contents.delete(path);
    },
    list: async (folder) =>
      [...contents.keys()].filter((path) => path.startsWith(`${folder}/`)).map((path) => path.slice(folder.length + 1)),
    syncFolder: async (path) => note({ kind: "syncFolder", path }),
  };
}

interface Inode {
  bytes: Uint8Array;
  isSynced: boolean;
}

type Name = Extract<Call, { kind: "create" | "rename" | "remove" }>;

interface CrashState {
  /** How many of the calls were made before power failed. */
  readonly made: number;
  readonly contents: Contents;
}

/**
 * Everything a disk may hold if power fails after some of the calls: names that were not synced changed or not, in any
 * combination; contents that were not synced there, missing, zeroed, or half there.
 */
export function* crashStates(start: Contents, calls: readonly Call[]): Generator<CrashState> {
  for (let made = 0; made <= calls.length; made++) {
    for (const contents of statesAfter(start, calls.slice(0, made))) yield { made, contents };
  }
}

function* statesAfter(start: Contents, calls: readonly Call[]): Generator<Contents> {
  const inodes = new Map<string, Inode>(Array.from(start, ([path, bytes]) => [path, { bytes, isSynced: true }]));
  const durable = new Map(inodes);
  let pending: { call: Name; inode: Inode | undefined }[] = [];
  for (const call of calls) {
    const inode = call.kind === "create" ? { bytes: new Uint8Array(0), isSynced: false } : inodes.get(call.path);
    if (call.kind === "write" && inode) Object.assign(inode, { bytes: call.bytes, isSynced: false });
    if (call.kind === "sync" && inode) inode.isSynced = true;
    if (call.kind === "create" || call.kind === "rename" || call.kind === "remove") {
      applyName(inodes, call, inode);
      pending.push({ call, inode });
    }
    if (call.kind === "syncFolder") {
      for (const { call: name, inode: of } of pending) applyName(durable, name, of);
      pending = [];
    }
  }
  for (let chosen = 0; chosen < 2 ** pending.length; chosen++) {
    const names = new Map(durable);
    pending.forEach(({ call, inode }, i) => {
      if ((chosen >> i) & 1) applyName(names, call, inode);
    });
    yield* contentsOf([...names]);
  }
}

function applyName(names: Map<string, Inode>, call: Name, inode: Inode | undefined): void {
  if (call.kind === "create" && inode) names.set(call.path, inode);
  else names.delete(call.path);
  if (call.kind === "rename" && inode) names.set(call.to, inode);
}

function* contentsOf([first, ...rest]: [string, Inode][]): Generator<Contents> {
  if (first === undefined) {
    yield new Map();
    return;
  }
  const [path, { bytes, isSynced }] = first;
  const half = Math.floor(bytes.length / 2);
  const possible = isSynced
    ? [bytes]
    : [
        bytes,
        new Uint8Array(0),
        new Uint8Array(bytes.length),
        bytes.slice(0, half),
        bytes.map((byte, i) => (i < half ? byte : 0)),
      ];
  for (const others of contentsOf(rest)) {
    for (const found of possible) yield new Map([...others, [path, found]]);
  }
}

/** How often each was tried, and what the next start found. */
interface DurabilityReport {
  readonly crashes: {
    /** Contents of the disk that a loss of power can leave, in one session of the store. */
    readonly states: number;
    readonly loadOld: number;
    readonly loadNew: number;
    /** Loads the old one although the session was over. */
    readonly undone: number;
    readonly epochsBack: number;
  };
  readonly flips: {
    readonly bytes: number;
    readonly tried: number;
    readonly detected: number;
    /** Loads the state of the other copy. */
    readonly otherUsed: number;
    readonly epochsBack: number;
  };
  readonly failures: { readonly tried: number; readonly losses: number; readonly epochsBack: number };
}

/** `folder`: an empty one, for the lock; everything else is on the simulated disk. */
export async function tryDurability(folder: string): Promise<DurabilityReport> {
  return { crashes: await crash(folder), flips: await flip(folder), failures: await fail(folder) };
}

const stateAtRound = (round: number): SavedState => ({
  study: "00112233445566778899aabbccddeeff",
  round,
  centroids: [
    [round, 0.5],
    [-1, round / 3],
  ],
  present: [true, true],
  opening: { number: 1, start: 2, sketches: [] },
  own: null,
  sketch: null,
  neighbours: [{ peer: "neighbour", epoch: 1, sequence: round, start: 2, centroids: [[0.25, round]] }],
});

interface Session {
  readonly saved: SavedState | undefined;
  /** Undefined: it did not open, and nothing was sent. */
  readonly epoch: number | undefined;
  readonly warnings: readonly string[];
  /** Calls of the disk before the device could send anything. */
  readonly callsToOpen: number;
}

/** From start to stop of a device; without a round it keeps nothing. */
async function session(folder: string, disk: SimulatedDisk, round?: number): Promise<Session> {
  const warnings: string[] = [];
  const notice = (_cause: string, line: string | undefined) => line !== undefined && warnings.push(line);
  try {
    const store = await openStore(folder, notice, { disk, clock: simulatedClock(), wallClock: () => 0 });
    const callsToOpen = disk.calls.length;
    if (round !== undefined) store.keep(() => stateAtRound(round));
    await store.close();
    return { saved: store.saved, epoch: store.epoch, warnings, callsToOpen };
  } catch (error) {
    return { saved: undefined, epoch: undefined, warnings: [String(error)], callsToOpen: disk.calls.length };
  }
}

/** The disk after this many sessions; each has its number as epoch and round. */
async function after(folder: string, sessions: number): Promise<Contents> {
  const disk = simulatedDisk();
  for (let round = 1; round <= sessions; round++) await session(folder, disk, round);
  return disk.contents;
}

const isRound = ({ saved }: Session, round: number) => JSON.stringify(saved) === JSON.stringify(stateAtRound(round));

async function crash(folder: string): Promise<DurabilityReport["crashes"]> {
  const found = { states: 0, loadOld: 0, loadNew: 0, undone: 0, epochsBack: 0 };
  // One copy of the state, two, and two in the other order.
  for (const old of [1, 2, 3]) {
    const start = await after(folder, old);
    const disk = simulatedDisk(start);
    const { callsToOpen } = await session(folder, disk, old + 1);
    for (const { made, contents } of crashStates(start, disk.calls)) {
      const next = await session(folder, simulatedDisk(contents));
      found.states += 1;
      if (isRound(next, old)) found.loadOld += 1;
      if (isRound(next, old + 1)) found.loadNew += 1;
      else if (made === disk.calls.length) found.undone += 1;
      const sent = made < callsToOpen ? old : old + 1;
      if (next.epoch === undefined || next.epoch <= sent) found.epochsBack += 1;
    }
  }
  return found;
}

async function flip(folder: string): Promise<DurabilityReport["flips"]> {
  const found = { bytes: 0, tried: 0, detected: 0, otherUsed: 0, epochsBack: 0 };
  const contents = await after(folder, 2);
  for (const [path, whole] of contents) {
    found.bytes += whole.length;
    const isState = path.includes("state.");
    for (let at = 0; at < whole.length; at++) {
      for (const bits of [0x01, 0x80, 0xff]) {
        const flipped = whole.slice();
        flipped[at] ^= bits;
        const next = await session(folder, simulatedDisk(new Map([...contents, [path, flipped]])));
        found.tried += 1;
        // An epoch's other copy is the same, and worth no warning.
        if (isState ? next.warnings.length === 1 : next.epoch === 3) found.detected += 1;
        if (isRound(next, path.endsWith("state.b") ? 1 : 2)) found.otherUsed += 1;
        if (next.epoch !== 3) found.epochsBack += 1;
      }
    }
  }
  return found;
}

async function fail(folder: string): Promise<DurabilityReport["failures"]> {
  const found = { tried: 0, losses: 0, epochsBack: 0 };
  const start = await after(folder, 2);
  const healthy = simulatedDisk(start);
  await session(folder, healthy, 3);
  for (const isForEver of [true, false]) {
    for (let at = 0; at < healthy.calls.length; at++) {
      const disk = simulatedDisk(start, (call) => {
        if (isForEver ? call >= at : call === at) throw new Error("ENOSPC: no space left on device");
      });
      const { epoch: sent = 2 } = await session(folder, disk, 3);
      const next = await session(folder, simulatedDisk(disk.contents));
      found.tried += 1;
      if (!isRound(next, 2) && !isRound(next, 3)) found.losses += 1;
      if (next.epoch === undefined || next.epoch <= sent) found.epochsBack += 1;
    }
  }
  return found;
}
