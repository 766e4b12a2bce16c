// The compiled SIMD module: one instance over one memory, made on first use.

import { type Arena, createArena } from "./arena.ts";
import type { Exports, Memory } from "./exports.ts";
import { type Passes, passesAlone } from "./passes.ts";
import { WASM_BYTES } from "./wasm-bytes.ts";

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
