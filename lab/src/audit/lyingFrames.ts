// Lies in the frames of a device that otherwise keeps to the protocol: other centroids, other sketches, another opening.

import { type Contract, frameBytes } from "@fedkm/device";

/** What becomes of the numbers of k centroids. */
export type Lie = (numbers: Float64Array, d: number) => Float64Array;

/** As docs/protocol.md has them: where a frame holds the number of its opening, and what is before a sketch's shares. */
const OPENING_AT = 44;
const VERSION_AT = 8;
const SKETCH_HEADER_BYTES = 16;

/** Other centroids in the same frame, under the same tag. */
export function withCentroids(contract: Contract, frame: Uint8Array, lie: Lie): Uint8Array {
  const { k, d } = contract;
  const end = frameBytes(contract);
  if (!isCentroids(contract, frame)) return frame;
  const copy = frame.slice();
  changeNumbers(copy, end - 8 * k * d, contract, lie);
  return copy;
}

/** Also other sketches, everybody's that the frame carries, as newer ones. */
export function withSketches(contract: Contract, frame: Uint8Array, lie: Lie): Uint8Array {
  const { k, d } = contract;
  if (!isCentroids(contract, frame)) return frame;
  const copy = withCentroids(contract, frame, lie);
  const view = new DataView(copy.buffer);
  const bytes = SKETCH_HEADER_BYTES + k + 8 * k * d;
  for (let at = frameBytes(contract); at + bytes <= copy.length; at += bytes) {
    view.setUint32(at + VERSION_AT, view.getUint32(at + VERSION_AT, true) + 1, true);
    changeNumbers(copy, at + SKETCH_HEADER_BYTES + k, contract, lie);
  }
  return copy;
}

/** All are asked to begin again: the frame is of an opening that is so many numbers later. */
export function withOpening(contract: Contract, frame: Uint8Array, later: number): Uint8Array {
  if (!isCentroids(contract, frame)) return frame;
  const copy = frame.slice();
  const view = new DataView(copy.buffer);
  view.setUint32(OPENING_AT, view.getUint32(OPENING_AT, true) + later, true);
  return copy;
}

function isCentroids(contract: Contract, frame: Uint8Array): boolean {
  return frame[5] === 1 && frame.length >= frameBytes(contract);
}

function changeNumbers(/* IN OUT */ frame: Uint8Array, at: number, { k, d }: Contract, lie: Lie): void {
  const view = new DataView(frame.buffer);
  const numbers = Float64Array.from({ length: k * d }, (_, i) => view.getFloat64(at + 8 * i, true));
  lie(numbers, d).forEach((x, i) => {
    view.setFloat64(at + 8 * i, x, true);
  });
}
