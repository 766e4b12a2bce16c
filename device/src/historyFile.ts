// The history of guarded rows as bytes: a line of JSON, then class ids, numbers of departed rows and the rows that count.

import { type Classes, oneClass } from "@fedkm/core/privacy";
import { concatBytes } from "@noble/hashes/utils.js";
import type { History } from "./history.ts";

interface Header {
  readonly features: readonly string[];
  readonly counted: number;
  readonly departed: number;
  /** Classes of counted rows that count in no sum. */
  readonly left?: readonly number[];
}

export function encodeHistory({ features, counted, departed }: History): Uint8Array {
  const sizes = { counted: counted.classes.ids.length, departed: departed.classes.ids.length };
  const left = Array.from(counted.classes.left ?? []).flatMap((is, id) => (is === 1 ? [id] : []));
  const header: Header = { features, ...sizes, ...(left.length > 0 && { left }) };
  const parts = [
    new TextEncoder().encode(`${JSON.stringify(header)}\n`),
    ...[counted.classes.ids, departed.classes.ids, departed.keys, counted.rows.data].map(bytesOf),
  ];
  return concatBytes(...parts);
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array | Float64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Undefined: not the history of these features. Its sum was checked before, so what it holds is what was written. */
export function decodeHistory(bytes: Uint8Array, features: readonly string[]): History | undefined {
  const end = bytes.indexOf("\n".charCodeAt(0));
  if (end < 0) return undefined;
  const header: Header = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
  if (header.features.join("\n") !== features.join("\n")) return undefined;
  const cols = features.length;
  let at = end + 1;
  // A copy: numbers may begin anywhere in a file, but not in memory. A Buffer's own slice would be none.
  const next = (size: number) => {
    at += size;
    return new Uint8Array(bytes.subarray(at - size, at)).buffer;
  };
  const ids = new Uint32Array(next(4 * header.counted));
  const awayIds = new Uint32Array(next(4 * header.departed));
  const keys = new Float64Array(next(8 * header.departed));
  const data = new Float64Array(next(8 * cols * header.counted));
  return {
    features,
    counted: { rows: { data, rows: header.counted, cols }, classes: withLeft(classesOf(ids), header.left) },
    departed: { keys, classes: classesOf(awayIds) },
  };
}

function classesOf(ids: Uint32Array): Classes {
  if (ids.length === 0) return oneClass(0);
  const sizes = new Uint32Array(ids.reduce((most, id) => Math.max(most, id), 0) + 1);
  for (const id of ids) sizes[id]++;
  return { ids, sizes };
}

function withLeft(classes: Classes, left: readonly number[] | undefined): Classes {
  if (left === undefined) return classes;
  return { ...classes, left: Uint8Array.from(classes.sizes, (_, id) => (left.includes(id) ? 1 : 0)) };
}
