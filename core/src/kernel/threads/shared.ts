// The kernel over shared memory: the same module, whose imported memory is marked as shared, so that workers can import it too.

import type { Exports, Memory } from "../exports.ts";
import { bytesOf, host, type Machine, machineOn } from "../module.ts";
import { WASM_BYTES } from "../wasm-bytes.ts";

/** Pages of a WebAssembly memory at most. A shared memory must say how far it may grow. */
const MOST_PAGES = 65536;

export interface SharedKernel {
  readonly module: object;
  readonly memory: Memory;
  readonly exports: Exports;
  readonly machine: Machine;
}

/** Undefined where WebAssembly, its SIMD instructions or shared memory are missing. */
export function createSharedKernel(): SharedKernel | undefined {
  const { WebAssembly } = host;
  // Pages that are not cross-origin isolated have no SharedArrayBuffer.
  if (WebAssembly === undefined || typeof SharedArrayBuffer === "undefined") return undefined;
  const bytes = importingSharedMemory(bytesOf(WASM_BYTES));
  if (!WebAssembly.validate(bytes)) return undefined;
  const memory = createMemory(WebAssembly.Memory);
  if (memory === undefined) return undefined;
  const module = new WebAssembly.Module(bytes);
  const exports = new WebAssembly.Instance(module, { env: { memory } }).exports as Exports;
  return { module, memory, exports, machine: machineOn(memory, exports) };
}

/** Some hosts set the whole of a shared memory aside at once and cannot have 4 GiB. */
function createMemory(
  Memory: new (limits: { initial: number; maximum: number; shared: boolean }) => Memory,
): Memory | undefined {
  for (let maximum = MOST_PAGES; maximum >= 4096; maximum /= 2) {
    try {
      return new Memory({ initial: 1, maximum, shared: true });
    } catch {}
  }
  return undefined;
}

/** The only import as it is built: 1 import, "env" "memory", a memory, limits without a maximum; see the binary format. */
const IMPORT = [1, 3, 101, 110, 118, 6, 109, 101, 109, 111, 114, 121, 2, 0];
const SHARED_LIMITS = 3;
/** MOST_PAGES in LEB128. */
const MAXIMUM = [0x80, 0x80, 4];

/**
 * The module with the flag "shared" and a maximum on the memory that it imports. The code is the same for both kinds of
 * memory, so a second binary would double the size of the package for 4 bytes.
 */
function importingSharedMemory(bytes: Uint8Array): Uint8Array {
  const at = bytes.findIndex((_, start) => IMPORT.every((byte, i) => bytes[start + i] === byte));
  if (at < 0) throw new Error("the kernel does not import its memory as expected");
  // The byte before is the length of the section, which ends with the minimum.
  const length = bytes[at - 1];
  const shared = new Uint8Array(bytes.length + MAXIMUM.length);
  shared.set(bytes.subarray(0, at + length));
  shared[at - 1] = length + MAXIMUM.length;
  shared[at + IMPORT.length - 1] = SHARED_LIMITS;
  shared.set(MAXIMUM, at + length);
  shared.set(bytes.subarray(at + length), at + length + MAXIMUM.length);
  return shared;
}
