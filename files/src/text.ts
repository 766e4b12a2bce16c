// Bytes to text: UTF-8 as it stands there, a byte order mark in the middle included.

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A decoder costs more to call than so many letters to join; most cells are shorter. */
const SHORT = 24;

/** The text of bytes from ... to - 1. */
export function textOf(bytes: Uint8Array, from: number, to: number): string {
  if (to - from > SHORT) return decoder.decode(bytes.subarray(from, to));
  let text = "";
  for (let p = from; p < to; p++) {
    if (bytes[p] > 127) return decoder.decode(bytes.subarray(from, to));
    text += String.fromCharCode(bytes[p]);
  }
  return text;
}
