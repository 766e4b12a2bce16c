// Rows of text files, which take long to parse: they are parsed once, and every pass reads packed doubles. These are in
// memory, or from a number on in a file without a name, which the system frees when the process ends, however it ends.

import { close, open, read, unlink, write } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Matrix, takeRows } from "@fedkm/core";
import { SourceError } from "./driver.ts";
import { BLOCK_ROWS } from "./engine.ts";
import type { RowSelection, SourceBounds } from "./statements.ts";
import type { RowReader, SelectionSummary } from "./survey.ts";

export type Spool = RowReader & { close(): Promise<void> };

/** Keeps rows that pass once. At most so many numbers stay in memory; if there are more, all of them go to a file. */
export async function spool(
  passing: AsyncIterable<Matrix>,
  cols: number,
  mostInMemory: number,
  onRows: (rows: number) => void,
): Promise<Spool> {
  const kept: Float64Array[] = [];
  let file: Awaited<ReturnType<typeof openSpoolFile>> | undefined;
  let numbers = 0;
  try {
    for await (const { data } of passing) {
      numbers += data.length;
      if (file === undefined && numbers > mostInMemory) {
        file = await openSpoolFile(tmpdir());
        for (const block of kept.splice(0)) await file.add(block);
      }
      if (file === undefined) kept.push(data.slice());
      else await file.add(data);
      onRows(numbers / cols);
    }
  } catch (error) {
    await file?.close();
    throw error;
  }
  async function* blocks(selected: RowSelection, signal?: AbortSignal): AsyncIterable<Matrix> {
    const pick = picker(selected);
    for await (const data of file === undefined ? kept : file.blocks(BLOCK_ROWS * cols)) {
      signal?.throwIfAborted();
      yield pick({ data, rows: data.length / cols, cols });
    }
  }
  return {
    summary: (selected, signal) => summaryOf(blocks(selected, signal), cols),
    outside: (selected, bounds, signal) => countOutside(blocks(selected, signal), bounds),
    blocks,
    async *sample(selected, step, signal) {
      let first = 0;
      for await (const block of blocks(selected, signal)) {
        const chosen: number[] = [];
        for (let r = 0; r < block.rows; r++) if (scattered(first + r) % step === 0) chosen.push(r);
        yield takeRows(block, chosen);
        first += block.rows;
      }
    },
    async close() {
      kept.length = 0;
      const open = file;
      file = undefined;
      await open?.close();
    },
  };
}

/** What a query does with rows that it reads: leaves some out, and scales the others. */
function picker({ columns, dropsMissing, bounds }: RowSelection): (block: Matrix) => Matrix {
  const cols = columns.length;
  const offset = Float64Array.from(columns, ({ scaling }) => scaling?.offset ?? 0);
  const scale = Float64Array.from(columns, ({ scaling }) => scaling?.scale ?? 1);
  const isScaled = offset.some((x) => x !== 0) || scale.some((x) => x !== 1);
  const leavesOut = dropsMissing || bounds !== undefined;
  const isOut = (x: number, c: number) =>
    Number.isNaN(x) || (bounds !== undefined && (x < bounds[c].min || x > bounds[c].max));
  const picked = new Float64Array(leavesOut || isScaled ? BLOCK_ROWS * cols : 0);
  return (block) => {
    if (!leavesOut && !isScaled) return block;
    let taken = 0;
    for (let r = 0; r < block.rows; r++) {
      const row = block.data.subarray(r * cols, (r + 1) * cols);
      if (leavesOut && row.some(isOut)) continue;
      for (let c = 0, at = taken * cols; c < cols; c++, at++) picked[at] = (row[c] - offset[c]) / scale[c];
      taken++;
    }
    return { data: picked.subarray(0, taken * cols), rows: taken, cols };
  };
}

/** A whole number that looks random: rows of files may repeat a pattern. */
function scattered(row: number): number {
  const mixed = Math.imul(row ^ (row >>> 16), 0x45d9f3b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

async function summaryOf(blocks: AsyncIterable<Matrix>, cols: number): Promise<SelectionSummary> {
  const [missing, infinite] = [new Float64Array(cols), new Float64Array(cols)];
  const least = new Float64Array(cols).fill(Number.POSITIVE_INFINITY);
  const most = new Float64Array(cols).fill(Number.NEGATIVE_INFINITY);
  let rows = 0;
  for await (const { data, rows: further } of blocks) {
    rows += further;
    for (let r = 0, at = 0; r < further; r++) {
      for (let c = 0; c < cols; c++, at++) {
        const x = data[at];
        if (x >= least[c] && x <= most[c]) continue;
        if (Number.isFinite(x)) {
          least[c] = Math.min(least[c], x);
          most[c] = Math.max(most[c], x);
        } else (Number.isNaN(x) ? missing : infinite)[c]++;
      }
    }
  }
  least.forEach((x, c) => {
    if (x > most[c]) least[c] = most[c] = Number.NaN;
  });
  return { rows, missing, infinite, least, most };
}

async function countOutside(blocks: AsyncIterable<Matrix>, bounds: readonly SourceBounds[]): Promise<number[]> {
  const outside = bounds.map(() => 0);
  for await (const { data, rows, cols } of blocks) {
    for (let r = 0, at = 0; r < rows; r++) {
      for (let c = 0; c < cols; c++, at++) if (!(data[at] >= bounds[c].min && data[at] <= bounds[c].max)) outside[c]++;
    }
  }
  return outside;
}

/** Only this user may read it, and after this line only this process can: it has no name any more. */
async function openSpoolFile(folder: string) {
  const failed = (error: unknown): never => {
    const { code = String(error) } = error as { code?: string };
    throw new SourceError(
      `rows of text that are streamed need a file in ${folder}, which failed with ${code}: TMPDIR names another folder`,
    );
  };
  const path = join(folder, `fedkm-rows-${crypto.randomUUID()}`);
  const descriptor = await promisify(open)(path, "wx+", 0o600).catch(failed);
  await promisify(unlink)(path);
  let length = 0;
  return {
    async add(data: Float64Array) {
      const bytes = bytesOf(data);
      for (let at = 0; at < bytes.length; ) {
        const { bytesWritten } = await promisify(write)(descriptor, bytes, at, bytes.length - at, length).catch(failed);
        at += bytesWritten;
        length += bytesWritten;
      }
    },
    async *blocks(numbers: number) {
      const block = new Float64Array(numbers);
      for (let at = 0; at < length; ) {
        const wanted = bytesOf(block).subarray(0, Math.min(length - at, block.byteLength));
        for (let filled = 0; filled < wanted.length; ) {
          const { bytesRead } = await promisify(read)(descriptor, wanted, filled, wanted.length - filled, at);
          if (bytesRead === 0) throw new Error("a file of rows became shorter");
          filled += bytesRead;
          at += bytesRead;
        }
        yield block.subarray(0, wanted.length / 8);
      }
    },
    close: () => promisify(close)(descriptor),
  };
}

function bytesOf(data: Float64Array): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}
