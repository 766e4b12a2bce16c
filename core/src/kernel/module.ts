// The compiled SIMD module: one instance over one memory, made on first use.

import { type Exports, type Memory, type Passes, passesAlone } from "./passes.ts";
import { WASM_BYTES } from "./wasm-bytes.ts";

// One WebAssembly memory for all devices, and who owns which part of it.

const PAGE = 65536;
/** Blocks up to this size come in classes, carved from chunks of CHUNK bytes that are never split otherwise. */
const SMALL = 32768;
const CHUNK = 16 * PAGE;

/** A part of the memory; `bytes` is what the arena set aside, not less than what was asked for. */
export interface Block {
  readonly at: number;
  readonly bytes: number;
}

interface Arena {
  /** A block aligned to 16 bytes with unspecified contents, or undefined when 4 GiB are full. */
  allocate(bytes: number): Block | undefined;
  free(block: Block): void;
}

/** Very many small blocks cost a stack operation each; large ones are kept sorted and melt together when freed. */
function createArena(memory: Memory): Arena {
  const small = new Map<number, number[]>();
  const large: { at: number; bytes: number }[] = [];

  function allocateLarge(bytes: number): Block | undefined {
    let hole = large.findIndex((candidate) => candidate.bytes >= bytes);
    if (hole < 0) {
      // A hole at the end counts towards what is asked for.
      const end = memory.buffer.byteLength;
      const last = large.at(-1);
      const missing = last !== undefined && last.at + last.bytes === end ? bytes - last.bytes : bytes;
      if (!grow(memory, missing)) return undefined;
      freeLarge({ at: end, bytes: missing });
      hole = large.length - 1;
    }
    const { at } = large[hole];
    large[hole].at += bytes;
    large[hole].bytes -= bytes;
    if (large[hole].bytes === 0) large.splice(hole, 1);
    return { at, bytes };
  }

  function freeLarge({ at, bytes }: Block): void {
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

  function allocateSmall(bytes: number): Block | undefined {
    const stack = small.get(bytes) ?? [];
    small.set(bytes, stack);
    if (stack.length === 0) {
      const chunk = allocateLarge(CHUNK);
      if (chunk === undefined) return undefined;
      for (let at = chunk.at + CHUNK - bytes; at >= chunk.at; at -= bytes) stack.push(at);
    }
    return { at: stack.pop() as number, bytes };
  }

  return {
    allocate: (bytes) =>
      bytes <= SMALL ? allocateSmall(classOf(bytes)) : allocateLarge(Math.ceil(bytes / PAGE) * PAGE),
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

function grow(memory: Memory, bytes: number): boolean {
  try {
    memory.grow(bytes / PAGE);
    return true;
  } catch {
    return false;
  }
}

export interface Machine extends Arena, Exports, Passes {
  /** The whole memory as numbers. Growing the memory makes new views, so these are asked for anew. */
  readonly f64: () => Float64Array;
  readonly i32: () => Int32Array;
}

/** The few names that are needed of globals that every host has but es2023 does not declare. */
interface Host {
  WebAssembly?: {
    Memory: new (limits: { initial: number; maximum: number; shared?: boolean }) => Memory;
    Module: new (bytes: Uint8Array) => object;
    Instance: new (module: object, imports: { env: { memory: Memory } }) => { exports: unknown };
    validate(bytes: Uint8Array): boolean;
  };
  atob(text: string): string;
}

export const host = globalThis as unknown as Host;

let machine: Machine | undefined | null = null;

/** The machine, or undefined where WebAssembly or its SIMD instructions are missing. */
export function theMachine(): Machine | undefined {
  if (machine === null) machine = createMachine();
  return machine;
}

function createMachine(): Machine | undefined {
  const made = instantiate<Exports>(WASM_BYTES, 65536);
  return made && machineOn(made.memory, made.exports);
}

/** An instance of a module over a page of memory that may grow to `maximum`. An engine without SIMD finds it invalid. */
export function instantiate<E>(base64: string, maximum: number): { memory: Memory; exports: E } | undefined {
  const { WebAssembly } = host;
  const bytes = bytesOf(base64);
  if (WebAssembly === undefined || !WebAssembly.validate(bytes)) return undefined;
  const memory = new WebAssembly.Memory({ initial: 1, maximum });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } });
  return { memory, exports: exports as E };
}

export function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(host.atob(base64), (letter) => letter.charCodeAt(0));
}

/** An instance and its memory, which nobody else grows. */
export function machineOn(memory: Memory, exports: Exports): Machine {
  let f64 = new Float64Array(memory.buffer);
  let i32 = new Int32Array(memory.buffer);
  const arena = createArena({
    get buffer() {
      return memory.buffer;
    },
    grow(pages) {
      const before = memory.grow(pages);
      f64 = new Float64Array(memory.buffer);
      i32 = new Int32Array(memory.buffer);
      return before;
    },
  });
  return { ...exports, ...arena, ...passesAlone(exports), f64: () => f64, i32: () => i32 };
}
