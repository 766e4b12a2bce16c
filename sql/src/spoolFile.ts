// A file of packed doubles without a name: the system frees it when the process ends, however it ends.

import { close, open, read, unlink, write } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { SourceError } from "./driver.ts";

export interface SpoolFile {
  add(data: Float64Array): Promise<void>;
  blocks(numbers: number): AsyncIterable<Float64Array>;
  close(): Promise<void>;
}

/** Only this user may read it, and after this line only this process can: it has no name any more. */
export async function openFile(folder: string): Promise<SpoolFile> {
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
    async add(data) {
      const bytes = bytesOf(data);
      for (let at = 0; at < bytes.length; ) {
        const { bytesWritten } = await promisify(write)(descriptor, bytes, at, bytes.length - at, length).catch(failed);
        at += bytesWritten;
        length += bytesWritten;
      }
    },
    async *blocks(numbers) {
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
