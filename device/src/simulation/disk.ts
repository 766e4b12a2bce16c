// A disk in memory that writes down what it is asked, can fail at any call, and can lose power after any call.

import type { Disk, NewFile } from "../disk/disk.ts";

/** File contents by path. */
export type Contents = ReadonlyMap<string, Uint8Array>;

type Call =
  | { readonly kind: "create"; readonly path: string }
  | { readonly kind: "write"; readonly path: string; readonly bytes: Uint8Array }
  | { readonly kind: "sync"; readonly path: string }
  | { readonly kind: "rename"; readonly path: string; readonly to: string }
  | { readonly kind: "remove"; readonly path: string }
  | { readonly kind: "syncFolder"; readonly path: string };

export interface SimulatedDisk extends Disk {
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
  const newFile = (path: string): NewFile => ({
    async write(bytes) {
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

export interface CrashState {
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
