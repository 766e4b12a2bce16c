// The compiled SIMD module: what it exports, passes over all rows of a device by one thread (threads/ has them for several),
// which part of its memory belongs to whom, and the one instance, made on first use.

import { WASM_BYTES } from "./bytes.ts";
import { LOSS_BLOCK } from "./js.ts";

/** What the module exports (assembly/build.mjs). `state` is the address of a device's State; ranges of rows start at multiples of 8. */
export interface KernelExports {
  small(state: number, from: number, to: number): number;
  arrange(state: number, from: number, to: number, source: number, largest: number): void;
  screen(state: number, from: number, to: number): void;
  plain(state: number, from: number, to: number): void;
  /** The other way round if `isIntoRows` is 0. */
  turn(state: number, from: number, to: number, isIntoRows: number): void;
  /** Codes the centroids for the projection. */
  project(state: number): void;
  loss(state: number, from: number, to: number, scratch: number): number;
  distances(state: number, origin: number, from: number, to: number, into: number): void;
  survey(state: number, from: number, to: number, largest: number): void;
  encode(
    state: number,
    origin: number,
    from: number,
    to: number,
    step: number,
    radius: number,
    largest: number,
  ): number;
}

export interface WasmMemory {
  readonly buffer: ArrayBufferLike;
  grow(pages: number): number;
}

/** `state` is the address of the device's State, which tells a pass all it needs. */
export interface Passes {
  /** Brings labels and sums up to date with the centroids in memory. */
  assignRows(pass: "plain" | "screen", state: number, rows: number): void;
  /** The same for points in tiles, which give the loss away, added to that of the rows before them. */
  assignTiles(state: number, rows: number, before: number): number;
  /** The losses of blocks of rows, added in their order to that of the rows before them. `scratch` holds 4 numbers. */
  lossOfRows(state: number, rows: number, scratch: number, before: number): number;
  /** Squared distances of a range of rows to an origin. `into` is an address with room for a multiple of four numbers. */
  distancesOfRows(state: number, from: number, to: number, origin: number, into: number): void;
  /** Copies, surveys and codes rows; returns the largest squared length of what rounding took off. */
  encodeRows(state: number, rows: number, coding: Coding): number;
}

export interface Coding {
  readonly cols: number;
  /** Addresses of the largest magnitudes of the columns and of the origin of the codes. */
  readonly largest: number;
  readonly origin: number;
  readonly step: number;
  readonly radius: number;
  /** Rows that stay in the cache from copying to coding. */
  readonly chunk: number;
  /** Brings a range of rows into the kernel's memory. */
  copy(from: number, to: number): void;
}

/** Rows per call into the kernel: the first calls run unoptimised code, so they must not be long. A block of the loss. */
export const CHUNK = LOSS_BLOCK;

function passesAlone(exports: KernelExports): Passes {
  return {
    assignRows(pass, state, rows) {
      const run = exports[pass];
      for (let from = 0; from < rows; from += CHUNK) run(state, from, Math.min(rows, from + CHUNK));
    },
    assignTiles(state, rows, before) {
      let loss = before;
      for (let from = 0; from < rows; from += CHUNK) loss += exports.small(state, from, Math.min(rows, from + CHUNK));
      return loss;
    },
    lossOfRows(state, rows, scratch, before) {
      let loss = before;
      for (let from = 0; from < rows; from += CHUNK) {
        loss += exports.loss(state, from, Math.min(rows, from + CHUNK), scratch);
      }
      return loss;
    },
    distancesOfRows(state, from, to, origin, into) {
      for (let row = from; row < to; row += CHUNK) {
        exports.distances(state, origin, row, Math.min(to, row + CHUNK), into + 8 * (row - from));
      }
    },
    encodeRows(state, rows, { largest, origin, step, radius, chunk, copy }) {
      let worst = 0;
      for (let from = 0; from < rows; from += chunk) {
        const to = Math.min(rows, from + chunk);
        copy(from, to);
        worst = Math.max(worst, exports.encode(state, origin, from, to, step, radius, largest));
      }
      return worst;
    },
  };
}

const PAGE = 65536;
/** Pages of a WebAssembly memory at most: 4 GiB. */
export const MOST_PAGES = 65536;
/** Blocks up to this size come in classes, carved from chunks of ARENA_CHUNK bytes that are never split otherwise. */
const SMALL = 32768;
const ARENA_CHUNK = 16 * PAGE;

/** A part of the memory; `bytes` is what the arena set aside, not less than what was asked for. */
export interface MemoryBlock {
  readonly at: number;
  readonly bytes: number;
}

interface Arena {
  /** A block aligned to 16 bytes with unspecified contents, or undefined when memory, less what is to be spared, is full. */
  allocate(bytes: number, spare?: number): MemoryBlock | undefined;
  free(block: MemoryBlock): void;
}

/** Very many small blocks cost a stack operation each; large ones are kept sorted and melt together when freed. */
function createArena(memory: WasmMemory, most: number): Arena {
  const small = new Map<number, number[]>();
  const large: { at: number; bytes: number }[] = [];

  function allocateLarge(bytes: number, spare = 0): MemoryBlock | undefined {
    let hole = large.findIndex((candidate) => candidate.bytes >= bytes);
    if (hole < 0) {
      // A hole at the end counts towards what is asked for.
      const end = memory.buffer.byteLength;
      const last = large.at(-1);
      const missing = last !== undefined && last.at + last.bytes === end ? bytes - last.bytes : bytes;
      if (end + missing > most - spare || !grow(memory, missing)) return undefined;
      freeLarge({ at: end, bytes: missing });
      hole = large.length - 1;
    }
    const { at } = large[hole];
    large[hole].at += bytes;
    large[hole].bytes -= bytes;
    if (large[hole].bytes === 0) large.splice(hole, 1);
    return { at, bytes };
  }

  function freeLarge({ at, bytes }: MemoryBlock): void {
    let place = large.findIndex((hole) => hole.at > at);
    if (place < 0) place = large.length;
    large.splice(place, 0, { at, bytes });
    for (let left = Math.max(0, place - 1); left < large.length - 1 && left <= place; ) {
      if (large[left].at + large[left].bytes === large[left + 1].at) {
        large[left].bytes += large[left + 1].bytes;
        large.splice(left + 1, 1);
      } else left++;
    }
  }

  function allocateSmall(bytes: number): MemoryBlock | undefined {
    const stack = small.get(bytes) ?? [];
    small.set(bytes, stack);
    if (stack.length === 0) {
      const chunk = allocateLarge(ARENA_CHUNK);
      if (chunk === undefined) return undefined;
      for (let at = chunk.at + ARENA_CHUNK - bytes; at >= chunk.at; at -= bytes) stack.push(at);
    }
    return { at: stack.pop() as number, bytes };
  }

  return {
    allocate: (bytes, spare) =>
      bytes <= SMALL ? allocateSmall(classOf(bytes)) : allocateLarge(Math.ceil(bytes / PAGE) * PAGE, spare),
    free(block) {
      if (block.bytes <= SMALL) small.get(block.bytes)?.push(block.at);
      else freeLarge(block);
    },
  };
}

/** Sizes of small blocks: quarter steps between powers of two, so that at most a fifth is wasted. */
function classOf(bytes: number): number {
  const step = Math.max(16, 2 ** (29 - Math.clz32(Math.max(1, bytes - 1))));
  return Math.ceil(bytes / step) * step;
}

function grow(memory: WasmMemory, bytes: number): boolean {
  try {
    memory.grow(bytes / PAGE);
    return true;
  } catch {
    return false;
  }
}

export interface WasmMachine extends Arena, KernelExports, Passes {
  /** Bytes that the memory may have. */
  readonly most: number;
  /** The whole memory as numbers. Growing the memory makes new views, so these are asked for anew. */
  readonly f64: () => Float64Array;
  readonly i32: () => Int32Array;
}

/** The few names that are needed of globals that every host has but es2023 does not declare. */
interface Host {
  WebAssembly?: {
    Memory: new (limits: { initial: number; maximum: number; shared?: boolean }) => WasmMemory;
    Module: new (bytes: Uint8Array) => object;
    Instance: new (module: object, imports: { env: { memory: WasmMemory } }) => { exports: unknown };
    validate(bytes: Uint8Array): boolean;
  };
  atob(text: string): string;
  console: { warn(sentence: string): void };
}

export const host = globalThis as unknown as Host;

let machine: WasmMachine | undefined | null = null;

/** The machine, or undefined where WebAssembly or its SIMD instructions are missing. */
export function theWasmMachine(): WasmMachine | undefined {
  if (machine === null) {
    machine = createWasmMachine(MOST_PAGES);
  }
  return machine;
}

/** One with a memory of its own, of so many pages at most. */
export function createWasmMachine(pages: number): WasmMachine | undefined {
  const made = instantiate<KernelExports>(WASM_BYTES, pages);
  return made && wasmMachineOn(made.memory, made.exports, pages);
}

/**
 * An instance of a module over a page of memory that may grow to `maximum`. An engine without SIMD finds it invalid, and
 * a page whose Content-Security-Policy lacks 'wasm-unsafe-eval' may not compile it: both answer undefined.
 */
export function instantiate<E>(base64: string, maximum: number): { memory: WasmMemory; exports: E } | undefined {
  const { WebAssembly } = host;
  const bytes = wasmBytes(base64);
  if (WebAssembly === undefined || !WebAssembly.validate(bytes)) return undefined;
  const module = compileModule(bytes);
  if (module === undefined) return undefined;
  const memory = new WebAssembly.Memory({ initial: 1, maximum });
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  return { memory, exports: exports as E };
}

let hasWarned = false;

/** Undefined where the page forbids WebAssembly: the reference computes the same bits, and the page hears why it is slow. */
export function compileModule(bytes: Uint8Array): object | undefined {
  try {
    return host.WebAssembly && new host.WebAssembly.Module(bytes);
  } catch {
    if (!hasWarned) {
      host.console.warn(
        "fedkm: the Content-Security-Policy forbids WebAssembly, so JavaScript computes the same results more slowly. script-src 'wasm-unsafe-eval' allows it.",
      );
    }
    hasWarned = true;
    return undefined;
  }
}

export function wasmBytes(base64: string): Uint8Array {
  return Uint8Array.from(host.atob(base64), (letter) => letter.charCodeAt(0));
}

/** An instance and its memory, which nobody else grows, and not beyond so many pages. */
export function wasmMachineOn(memory: WasmMemory, exports: KernelExports, pages: number): WasmMachine {
  const most = pages * PAGE;
  let f64 = new Float64Array(memory.buffer);
  let i32 = new Int32Array(memory.buffer);
  const arena = createArena(
    {
      get buffer() {
        return memory.buffer;
      },
      grow(pages) {
        const before = memory.grow(pages);
        f64 = new Float64Array(memory.buffer);
        i32 = new Int32Array(memory.buffer);
        return before;
      },
    },
    most,
  );
  return { ...exports, ...arena, ...passesAlone(exports), most, f64: () => f64, i32: () => i32 };
}
