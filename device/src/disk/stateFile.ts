// The state's format on disk: a header, the state as JSON (SavedState of loop/savedState.ts) and a SHA-256, in two copies.
// A file that is not whole is known by its sum, and a save never touches the newest one. The epoch is kept in the same way.

import { createHash } from "node:crypto";
import { copyFile, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Disk, durableWrite } from "./disk.ts";

/** magic 4, version 1, nothing 3, generation 8, length 4; then the payload, then SHA-256 of all before it. */
const HEADER_BYTES = 20;
const SUM_BYTES = 32;
const MAGIC = 0x736b6466; // "fdks"
const VERSION = 1;

export interface StateCopy {
  readonly number: number;
  readonly payload: Uint8Array;
}

export function encodeCopy({ number, payload }: StateCopy): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + payload.length + SUM_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint8(4, VERSION);
  view.setBigUint64(8, BigInt(number), true);
  view.setUint32(16, payload.length, true);
  bytes.set(payload, HEADER_BYTES);
  bytes.set(sumOf(bytes), HEADER_BYTES + payload.length);
  return bytes;
}

/** Undefined: not whole. */
export function decodeCopy(bytes: Uint8Array): StateCopy | undefined {
  if (bytes.length < HEADER_BYTES + SUM_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getUint32(16, true);
  if (view.getUint32(0, true) !== MAGIC || view.getUint8(4) !== VERSION) return undefined;
  if (bytes.length !== HEADER_BYTES + length + SUM_BYTES) return undefined;
  const sum = bytes.subarray(HEADER_BYTES + length);
  if (!sumOf(bytes).every((byte, i) => byte === sum[i])) return undefined;
  return {
    number: Number(view.getBigUint64(8, true)),
    payload: bytes.slice(HEADER_BYTES, HEADER_BYTES + length),
  };
}

function sumOf(bytes: Uint8Array): Uint8Array {
  return createHash("sha256")
    .update(bytes.subarray(0, bytes.length - SUM_BYTES))
    .digest();
}

export type TwoCopies = ReturnType<typeof twoCopies>;

/** The two files `path.a` and `path.b`. */
export function twoCopies(path: string, disk: Disk) {
  let latest = 0;
  let next = `${path}.a`;
  return {
    /** `damaged`: copies that exist and are not whole. */
    async load() {
      const copies = await Promise.all(
        [`${path}.a`, `${path}.b`].map(async (name) => {
          const bytes = await disk.read(name);
          return { name, isThere: bytes !== undefined, found: bytes && decodeCopy(bytes) };
        }),
      );
      const [first, second] = copies;
      const isSecondNewer = (second.found?.number ?? -1) > (first.found?.number ?? -1);
      const newest = (isSecondNewer ? second : first).found;
      latest = newest?.number ?? 0;
      next = (newest === undefined || isSecondNewer ? first : second).name;
      return { newest, damaged: copies.filter(({ isThere, found }) => isThere && found === undefined).length };
    },
    /** After `load`. Writes over the older generation, so that the newest stays until there is a newer one. */
    async save(payload: Uint8Array) {
      await durableWrite(next, encodeCopy({ number: latest + 1, payload }), disk);
      latest++;
      next = next === `${path}.a` ? `${path}.b` : `${path}.a`;
    },
  };
}

export const STATE_FILES = ["state.a", "state.b"];

/** Files are replaced whole, so a copy is whole as well. Returns where the copies are; undefined: there was nothing. */
export async function copyAside(path: string, names: readonly string[], at: Date): Promise<string | undefined> {
  const to = join(path, `set-aside-${at.toISOString().replaceAll(":", "-")}`);
  await mkdir(to, { mode: 0o700 });
  let copied = 0;
  for (const name of names) {
    try {
      await copyFile(join(path, name), join(to, name));
      copied++;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") continue;
      await rm(to, { recursive: true });
      throw error;
    }
  }
  if (copied > 0) return to;
  await rm(to, { recursive: true });
  return undefined;
}

/** Both copies, so that losing one does not go back. */
export async function saveBothCopies(copies: TwoCopies, payload: Uint8Array): Promise<void> {
  await copies.save(payload);
  await copies.save(payload);
}
