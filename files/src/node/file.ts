// A file on disk, through Node's file system.

import { type FileHandle, open, stat } from "node:fs/promises";
import { DataError } from "../refusal.ts";
import type { ByteFile } from "../source.ts";
import { nodePlatform } from "./platform.ts";
import { systemReason } from "./reason.ts";

/** Changes whenever the file does. */
const versionOf = ({ size, mtimeMs, ino }: { size: number; mtimeMs: number; ino: number }) =>
  `${size} ${mtimeMs} ${ino}`;

export async function openFile(file: string): Promise<ByteFile> {
  const refuse = (remedy: string) => (error: unknown) => {
    throw new DataError({ file }, "be a file that can be read", systemReason(error), remedy, { cause: error });
  };
  const about = await stat(file).catch(refuse("check the path"));
  if (about.isDirectory()) {
    throw new DataError({ file }, "be a file", "a folder", `name its files, such as ${file.replace(/\/*$/, "")}/*.csv`);
  }
  if (!about.isFile()) {
    throw new DataError({ file }, "be a regular file", "a device or pipe", "save it as a file first");
  }
  const handle: FileHandle = await open(file, "r").catch(refuse("check its permissions"));
  const version = versionOf(about);
  return {
    file,
    ending: file,
    size: about.size,
    platform: nodePlatform,
    read: async (into, at) => (await handle.read(into, 0, into.length, at)).bytesRead,
    // By its path: a file that was put in its place is another one.
    isUnchanged: async () => (await stat(file).then(versionOf, () => "gone")) === version,
    close: () => handle.close(),
  };
}
