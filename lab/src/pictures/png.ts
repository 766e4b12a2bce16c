// PNG files of few colours, from the screenshots of a browser: small enough to be kept, and able to move.

import { crc32, deflateSync, inflateSync } from "node:zlib";

/** Eight bits for each of red, green and blue, row by row. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** The last index is kept for pixels that stay as they are. */
const MOST_COLOURS = 255;
const UNCHANGED = 255;
/** Squared: cells of neighbouring clusters are pale, and differ by a little more. */
const NEARLY_THE_SAME = 24;

/** As browsers write them: eight bits a channel, without interlacing. */
export function readPng(file: Buffer): Picture {
  const [width, height, channels] = [file.readUInt32BE(16), file.readUInt32BE(20), file[25] === 6 ? 4 : 3];
  const parts: Buffer[] = [];
  for (let at = SIGNATURE.length; at < file.length; at += 12 + file.readUInt32BE(at)) {
    const data = file.subarray(at + 8, at + 8 + file.readUInt32BE(at));
    if (file.toString("latin1", at + 4, at + 8) === "IDAT") parts.push(data);
  }
  const rows = unfiltered(inflateSync(Buffer.concat(parts)), height, width * channels, channels);
  const pixels = new Uint8Array(width * height * 3);
  for (let i = 0; i < width * height; i++) for (let c = 0; c < 3; c++) pixels[3 * i + c] = rows[i * channels + c];
  return { width, height, pixels };
}

function unfiltered(raw: Buffer, height: number, stride: number, channels: number): Uint8Array {
  const out = new Uint8Array(height * stride);
  for (let y = 0; y < height; y++) {
    const kind = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const left = x < channels ? 0 : out[at - channels];
      const up = y === 0 ? 0 : out[at - stride];
      const corner = x < channels || y === 0 ? 0 : out[at - stride - channels];
      out[at] = raw[y * (stride + 1) + 1 + x] + guessOf(kind, left, up, corner);
    }
  }
  return out;
}

/** What the kind of filter expects of a byte, from those before it. */
function guessOf(kind: number, left: number, up: number, corner: number): number {
  if (kind < 3) return kind === 0 ? 0 : kind === 1 ? left : up;
  if (kind === 3) return (left + up) >> 1;
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

/** One picture, or several that follow each other for ever, each for so many milliseconds. */
export function writePng(pictures: readonly Picture[], milliseconds = 0): Buffer {
  const [{ width, height }] = pictures;
  const palette = commonColours(pictures);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8);
  const transparent = Buffer.alloc(MOST_COLOURS + 1, 0xff);
  transparent[UNCHANGED] = 0;
  const chunks = [
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(palette.flatMap((colour) => Array.from(colour)))),
    chunk("tRNS", transparent),
  ];
  const isMoving = pictures.length > 1;
  if (isMoving) chunks.splice(1, 0, chunk("acTL", numbers(pictures.length, 0)));
  let before: Uint8Array | undefined;
  let sequence = 0;
  for (const picture of pictures) {
    const indices = indicesOf(picture, palette);
    const data = deflateSync(rowsOf(indices, before, picture), { level: 9 });
    if (isMoving) chunks.push(chunk("fcTL", frameControl(sequence++, width, height, milliseconds)));
    if (before === undefined) chunks.push(chunk("IDAT", data));
    else chunks.push(chunk("fdAT", Buffer.concat([numbers(sequence++), data])));
    before = indices;
  }
  return Buffer.concat([SIGNATURE, ...chunks, chunk("IEND", Buffer.alloc(0))]);
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, "latin1"), data]);
  return Buffer.concat([numbers(data.length), named, numbers(crc32(named))]);
}

function numbers(...values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(4 * values.length);
  values.forEach((value, i) => {
    buffer.writeUInt32BE(value, 4 * i);
  });
  return buffer;
}

/** Drawn over the one before, which stays. */
function frameControl(sequence: number, width: number, height: number, milliseconds: number): Buffer {
  const times = Buffer.alloc(6);
  times.writeUInt16BE(milliseconds, 0);
  times.writeUInt16BE(1000, 2);
  times[5] = 1;
  return Buffer.concat([numbers(sequence, width, height, 0, 0), times]);
}

type Colour = ArrayLike<number>;

/** The most frequent colours of all pictures, of which no two are nearly the same. */
function commonColours(pictures: readonly Picture[]): Colour[] {
  const counts = new Map<number, number>();
  for (const { pixels } of pictures) {
    for (let i = 0; i < pixels.length; i += 3) {
      const colour = (pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2];
      counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
  }
  const chosen: Colour[] = [];
  for (const [colour] of [...counts].sort((a, b) => b[1] - a[1])) {
    const parts = [colour >> 16, (colour >> 8) & 0xff, colour & 0xff];
    if (chosen.every((other) => distance(other, parts) > NEARLY_THE_SAME)) chosen.push(parts);
    if (chosen.length === MOST_COLOURS) break;
  }
  while (chosen.length <= MOST_COLOURS) chosen.push([0, 0, 0]);
  return chosen;
}

function distance(a: Colour, b: Colour): number {
  return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2;
}

function indicesOf({ pixels }: Picture, palette: readonly Colour[]): Uint8Array {
  const known = new Map<number, number>();
  const indices = new Uint8Array(pixels.length / 3);
  for (let i = 0; i < indices.length; i++) {
    const colour = (pixels[3 * i] << 16) | (pixels[3 * i + 1] << 8) | pixels[3 * i + 2];
    let index = known.get(colour);
    if (index === undefined) {
      index = 0;
      const parts = pixels.subarray(3 * i, 3 * i + 3);
      for (let c = 1; c < MOST_COLOURS; c++) {
        if (distance(palette[c], parts) < distance(palette[index], parts)) index = c;
      }
      known.set(colour, index);
    }
    indices[i] = index;
  }
  return indices;
}

function rowsOf(indices: Uint8Array, before: Uint8Array | undefined, { width, height }: Picture): Buffer {
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = y * width + x;
      rows[y * (width + 1) + 1 + x] = before !== undefined && before[at] === indices[at] ? UNCHANGED : indices[at];
    }
  }
  return rows;
}
