// A record that knows whether it is whole, kept in two generations: saving never touches the newest one.

import { createHash, randomBytes } from "node:crypto";
import { dirname } from "node:path";
import { type Files, realFiles } from "./files.ts";

/** magic 4, version 1, nothing 3, generation 8, length 4; then the payload, then SHA-256 of all before it. */
const HEADER_BYTES = 20;
const SUM_BYTES = 32;
const MAGIC = 0x736b6466; // "fdks"
const VERSION = 1;

export interface Generation {
  readonly number: number;
  readonly payload: Uint8Array;
}

export function encodeRecord({ number, payload }: Generation): Uint8Array {
  const record = new Uint8Array(HEADER_BYTES + payload.length + SUM_BYTES);
  const view = new DataView(record.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint8(4, VERSION);
  view.setBigUint64(8, BigInt(number), true);
  view.setUint32(16, payload.length, true);
  record.set(payload, HEADER_BYTES);
  record.set(sumOf(record), HEADER_BYTES + payload.length);
  return record;
}

/** Undefined: not whole. */
export function decodeRecord(record: Uint8Array): Generation | undefined {
  if (record.length < HEADER_BYTES + SUM_BYTES) return undefined;
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength);
  const length = view.getUint32(16, true);
  if (view.getUint32(0, true) !== MAGIC || view.getUint8(4) !== VERSION) return undefined;
  if (record.length !== HEADER_BYTES + length + SUM_BYTES) return undefined;
  const sum = record.subarray(HEADER_BYTES + length);
  if (!sumOf(record).every((byte, i) => byte === sum[i])) return undefined;
  return {
    number: Number(view.getBigUint64(8, true)),
    payload: record.slice(HEADER_BYTES, HEADER_BYTES + length),
  };
}

function sumOf(record: Uint8Array): Uint8Array {
  return createHash("sha256")
    .update(record.subarray(0, record.length - SUM_BYTES))
    .digest();
}

/** Replaces a file so that after a crash it is exactly the old one or exactly the new one. */
export async function durableWrite(path: string, bytes: Uint8Array, files: Files = realFiles): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const file = await files.create(temporary);
    try {
      await file.write(bytes);
      // Before the rename: a file system may rename before it writes.
      await file.sync();
    } finally {
      await file.close();
    }
    await files.rename(temporary, path);
  } catch (error) {
    await files.remove(temporary).catch(() => {});
    throw error;
  }
  await files.syncFolder(dirname(path));
}

interface Loaded {
  readonly newest: Generation | undefined;
  /** Copies that exist and are not whole. */
  readonly damaged: number;
}

export interface Generations {
  load(): Promise<Loaded>;
  /** After `load`. Writes over the older generation, so that the newest stays until there is a newer one. */
  save(payload: Uint8Array): Promise<void>;
}

/** The two files `path.a` and `path.b`. */
export function generations(path: string, files: Files): Generations {
  let latest = 0;
  let next = `${path}.a`;
  return {
    async load() {
      const copies = await Promise.all(
        [`${path}.a`, `${path}.b`].map(async (name) => {
          const bytes = await files.read(name);
          return { name, isThere: bytes !== undefined, found: bytes && decodeRecord(bytes) };
        }),
      );
      const [first, second] = copies;
      const isSecondNewer = (second.found?.number ?? -1) > (first.found?.number ?? -1);
      const newest = (isSecondNewer ? second : first).found;
      latest = newest?.number ?? 0;
      next = (newest === undefined || isSecondNewer ? first : second).name;
      return { newest, damaged: copies.filter(({ isThere, found }) => isThere && found === undefined).length };
    },
    async save(payload) {
      await durableWrite(next, encodeRecord({ number: latest + 1, payload }), files);
      latest++;
      next = next === `${path}.a` ? `${path}.b` : `${path}.a`;
    },
  };
}
