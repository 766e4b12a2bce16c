// A file that somebody chose or dropped in a page, or any other Blob.

import { DataError } from "../refusal.ts";
import type { ByteFile, Platform } from "../source.ts";

/** What a Blob without a name is called. */
const NAMELESS = "data";

export function openBlob(blob: Blob, platform: Platform): ByteFile {
  const file = "name" in blob && typeof blob.name === "string" ? blob.name : NAMELESS;
  return {
    file,
    ending: file,
    size: blob.size,
    platform,
    async read(into, at) {
      const piece = await blob
        .slice(at, at + into.length)
        .arrayBuffer()
        .catch((error: unknown) => {
          const remedy = "choose the file again";
          throw new DataError({ file }, "be a file that can be read", "one that changed or is gone", remedy, {
            cause: error,
          });
        });
      into.set(new Uint8Array(piece));
      return piece.byteLength;
    },
    // A Blob is what it was, or cannot be read any more.
    isUnchanged: async () => true,
    close: async () => {},
  };
}
