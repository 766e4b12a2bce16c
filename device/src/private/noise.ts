// Noise that nobody can guess and that repeats itself: the same secret, rows and release give the same bytes.

import { type Matrix, takeRows } from "@fedkm/core";
import type { RandomBytes } from "@fedkm/core/privacy";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";

/** A name for rows that tells nothing about them to whoever does not know the secret. */
export function nameOfRows(secret: string, rows: Matrix): string {
  return bytesToHex(hmac(sha256, hexToBytes(secret), bytesOf(rows)));
}

/** Of one release: its label says which, of which rows and with which parameters. */
export function noiseOf(secret: string, label: string): RandomBytes {
  const key = hmac(sha256, hexToBytes(secret), utf8ToBytes(`noise of ${label}`));
  let block = 0;
  return (count) => {
    const bytes = new Uint8Array(count);
    for (let at = 0; at < count; at += key.length) {
      const counter = new Uint8Array(8);
      new DataView(counter.buffer).setFloat64(0, block++);
      bytes.set(hmac(sha256, key, counter).subarray(0, count - at), at);
    }
    return bytes;
  };
}

function bytesOf({ data }: Matrix): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

/** In whatever order they are read, they are the same rows. */
export function inOrderOfValues(rows: Matrix): Matrix {
  const { data, cols } = rows;
  const order = Array.from({ length: rows.rows }, (_, r) => r);
  order.sort((a, b) => {
    for (let c = 0; c < cols; c++) {
      const difference = data[a * cols + c] - data[b * cols + c];
      if (difference !== 0) return difference;
    }
    return 0;
  });
  return takeRows(rows, order);
}
