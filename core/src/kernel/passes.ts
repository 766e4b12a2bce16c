// Passes over all rows of a device, by the one thread that asks for them. src/threads has the same for several.

import { LOSS_BLOCK } from "./js.ts";

// What the compiled SIMD module exports, and the memory that it imports.

/** What assembly/index.ts exports. `state` is the address of a device's State; ranges of rows start at multiples of 8. */
export interface Exports {
  small(state: number, from: number, to: number): number;
  arrange(state: number, from: number, to: number, source: number, largest: number): void;
  screen(state: number, from: number, to: number): void;
  plain(state: number, from: number, to: number): void;
  loss(state: number, from: number, to: number, scratch: number): number;
  distances(state: number, centre: number, from: number, to: number, into: number): void;
  survey(state: number, from: number, to: number, largest: number): void;
  encode(
    state: number,
    centre: number,
    from: number,
    to: number,
    step: number,
    radius: number,
    largest: number,
  ): number;
}

/** A WebAssembly memory: what is needed of it. */
export interface Memory {
  readonly buffer: ArrayBufferLike;
  grow(pages: number): number;
}

/** `state` is the address of the device's State, which tells a pass all it needs. */
export interface Passes {
  /** Brings labels and sums up to date with the centroids in memory. */
  assignRows(pass: "plain" | "screen", state: number, rows: number): void;
  /** The same for points in tiles, which give the loss away. */
  assignTiles(state: number, rows: number): number;
  /** The losses of blocks of rows, added in their order. `scratch` holds 4 numbers. */
  lossOfRows(state: number, rows: number, scratch: number): number;
  /** Squared distances of a range of rows to a centre. `into` is an address with room for a multiple of four numbers. */
  distancesOfRows(state: number, from: number, to: number, centre: number, into: number): void;
  /** Copies, surveys and codes rows; returns the largest squared length of what rounding took off. */
  encodeRows(state: number, rows: number, coding: Coding): number;
}

export interface Coding {
  readonly cols: number;
  /** Addresses of the largest magnitudes of the columns and of the centre of the codes. */
  readonly largest: number;
  readonly centre: number;
  readonly step: number;
  readonly radius: number;
  /** Rows that stay in the cache from copying to coding. */
  readonly chunk: number;
  /** Brings a range of rows into the kernel's memory. */
  copy(from: number, to: number): void;
}

/** Rows per call into the kernel: the first calls run unoptimised code, so they must not be long. A block of the loss. */
export const CHUNK = LOSS_BLOCK;

export function passesAlone(exports: Exports): Passes {
  return {
    assignRows(pass, state, rows) {
      const run = exports[pass];
      for (let from = 0; from < rows; from += CHUNK) run(state, from, Math.min(rows, from + CHUNK));
    },
    assignTiles(state, rows) {
      let loss = 0;
      for (let from = 0; from < rows; from += CHUNK) loss += exports.small(state, from, Math.min(rows, from + CHUNK));
      return loss;
    },
    lossOfRows(state, rows, scratch) {
      let loss = 0;
      for (let from = 0; from < rows; from += CHUNK) {
        loss += exports.loss(state, from, Math.min(rows, from + CHUNK), scratch);
      }
      return loss;
    },
    distancesOfRows(state, from, to, centre, into) {
      for (let row = from; row < to; row += CHUNK) {
        exports.distances(state, centre, row, Math.min(to, row + CHUNK), into + 8 * (row - from));
      }
    },
    encodeRows(state, rows, { largest, centre, step, radius, chunk, copy }) {
      let worst = 0;
      for (let from = 0; from < rows; from += chunk) {
        const to = Math.min(rows, from + chunk);
        copy(from, to);
        worst = Math.max(worst, exports.encode(state, centre, from, to, step, radius, largest));
      }
      return worst;
    },
  };
}
