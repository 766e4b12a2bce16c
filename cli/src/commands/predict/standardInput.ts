// The standard input as a file: it is read once and kept, since labels are written behind what was read.

import type { Console } from "../../console.ts";
import { UsageError } from "../../failure.ts";

export async function standardInput({ stdin }: Console): Promise<{ file: string; input: Blob }> {
  if (stdin === undefined || stdin.isTTY) {
    throw new UsageError("- must be the standard input with rows in it, got a terminal");
  }
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for await (const piece of stdin) pieces.push(Uint8Array.from(Buffer.from(piece)));
  return { file: "-", input: new File(pieces, "standard input") };
}
