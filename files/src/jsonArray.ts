// A JSON array of rows: its elements one after the other, each with the line in which it begins. None is held longer than
// it takes to read it.

import type { Feed } from "./feed.ts";
import type { Limits } from "./limits.ts";
import { DataError, shown } from "./refusal.ts";
import { textOf } from "./text.ts";

const NEWLINE = 10;
const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const OPEN = 91;
const CLOSE = 93;
const SPACES: ReadonlySet<number> = new Set([32, 9, NEWLINE, 13]);

/** Whether the text begins an array. */
export function isArray({ bytes, length }: Feed): boolean {
  for (let at = 0; at < length; at++) if (!SPACES.has(bytes[at])) return bytes[at] === OPEN;
  return false;
}

/** Calls back with every element of the array in the feed. */
export async function eachElement(
  feed: Feed,
  limits: Limits,
  use: (line: number, text: string) => void,
): Promise<void> {
  const state = { line: 1, isOpen: false, isClosed: false, wantsElement: false };
  const refuse = (got: string): never => {
    const place = { file: feed.file, line: state.line, column: 1 };
    throw new DataError(place, "be part of one whole JSON array", got, 'write an array such as [{"a": 1}, {"a": 2}]');
  };
  for (;;) {
    let at = 0;
    while (at < feed.length) {
      const byte = feed.bytes[at];
      if (SPACES.has(byte)) {
        if (byte === NEWLINE) state.line++;
        at++;
      } else if (!state.isOpen) {
        state.isOpen = true;
        at++;
      } else if (state.isClosed) refuse("text behind its end");
      else if (byte === CLOSE) {
        if (state.wantsElement) refuse("a comma at its end");
        state.isClosed = true;
        at++;
      } else if (byte === COMMA) {
        if (state.wantsElement) refuse("two commas");
        state.wantsElement = true;
        at++;
      } else {
        const end = elementEnd(feed, at);
        if (end < 0) break;
        const text = textOf(feed.bytes, at, end);
        use(state.line, text);
        for (let p = at; p < end; p++) if (feed.bytes[p] === NEWLINE) state.line++;
        state.wantsElement = false;
        at = end;
      }
    }
    if (feed.length - at > limits.lineBytes) refuse(`an element of more than ${limits.lineBytes} bytes`);
    if (feed.ended)
      return state.isClosed ? undefined : refuse(`an end at ${shown(textOf(feed.bytes, at, feed.length))}`);
    await feed.advance(at, state.line);
  }
}

/** Behind the element at `from`, by its brackets and quotes; -1 if it does not end in the block. */
function elementEnd({ bytes, length }: Feed, from: number): number {
  let depth = 0;
  for (let at = from; at < length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      for (at++; at < length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
    } else if (byte === OPEN || byte === OPEN + 32) depth++;
    else if (byte === CLOSE || byte === CLOSE + 32) {
      if (depth === 0) return at;
      depth--;
      if (depth === 0) return at + 1;
    } else if (byte === COMMA && depth === 0) return at;
  }
  return -1;
}
