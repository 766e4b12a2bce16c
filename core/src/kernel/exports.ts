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
