// Results on disk: a file or a folder is written beside its place and moved there when it is whole, or not at all.

import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  opendirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileSystemReason } from "@fedkm/files";
import { stoppable } from "./stop.ts";

/** All of it, or work that writes it in pieces. */
type Content = string | Uint8Array | ((write: (piece: Uint8Array) => Promise<void>) => Promise<void>);

/** An interruption leaves the old file or the new one. */
export async function writeResultFile(file: string, content: Content): Promise<void> {
  await beside(file, async (temporary, signal) => {
    await writeContent(temporary, content, signal);
    renameSync(temporary, file);
  });
}

/** Many files at once: those of the same names in the folder are replaced, others stay. Names may have folders in them. */
export function writeResultFolder<T>(
  folder: string,
  fill: (put: (name: string, content: Content) => Promise<void>) => Promise<T>,
): Promise<T> {
  return beside(folder, async (temporary, signal) => {
    makeFolder(temporary);
    const filled = await fill(async (name, content) => {
      const file = join(temporary, name);
      if (!existsSync(dirname(file))) makeFolder(dirname(file));
      await writeContent(file, content, signal);
    });
    signal.throwIfAborted();
    if (existsSync(folder)) moveInto(temporary, folder);
    else renameSync(temporary, folder);
    return filled;
  });
}

/** Whether `writeFolder` may well succeed, asked before the work for it begins. Makes nothing. */
export function checkResultFolder(folder: string): void {
  let above = dirname(resolve(folder));
  while (!existsSync(above)) above = dirname(above);
  try {
    opendirSync(above).closeSync();
    accessSync(above, constants.W_OK);
    if (existsSync(folder)) opendirSync(folder).closeSync();
  } catch (error) {
    throw new Error(`cannot write ${folder}: ${fileSystemReason(error)}`, { cause: error });
  }
}

/** Whatever happens, nothing temporary stays. */
async function beside<T>(path: string, work: (temporary: string, signal: AbortSignal) => Promise<T>): Promise<T> {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
  try {
    return await stoppable((signal) => work(temporary, signal));
  } catch (error) {
    if (error instanceof Error && "errno" in error) {
      throw new Error(`cannot write ${path}: ${fileSystemReason(error)}`, { cause: error });
    }
    throw error;
  } finally {
    // Asked first: removing what is not there can fail where nothing may be written.
    if (existsSync(temporary)) rmSync(temporary, { recursive: true, force: true });
  }
}

async function writeContent(file: string, content: Content, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (typeof content !== "function") {
    writeFileSync(file, content);
    return;
  }
  const handle = await open(file, "w");
  try {
    await content(async (piece) => {
      signal.throwIfAborted();
      for (let at = 0; at < piece.length; ) at += (await handle.write(piece, at)).bytesWritten;
    });
  } finally {
    await handle.close();
  }
}

/** With the folders above it. Node's own way to do this never ends where the system makes no folders, such as in /proc. */
function makeFolder(path: string): void {
  const above = dirname(path);
  if (above !== path && !existsSync(above)) makeFolder(above);
  mkdirSync(path);
}

function moveInto(from: string, to: string): void {
  if (!existsSync(to)) mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) moveInto(source, target);
    else renameSync(source, target);
  }
}
