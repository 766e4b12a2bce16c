// Files that are either whole or not there, also when somebody presses Ctrl-C.

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
import { systemReason } from "./failure.ts";

const beside = (path: string) => join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);

/** Written beside its place and moved there, so that an interruption leaves the old file or the new one. */
export function writeWhole(file: string, text: string | Uint8Array): void {
  const temporary = beside(file);
  try {
    writeFileSync(temporary, text);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new Error(`cannot write ${file}: ${systemReason(error)}`, { cause: error });
  }
}

/** A file whose text comes in pieces. Returns what the work returns. */
export async function writePieces<T>(
  file: string,
  work: (write: (piece: Uint8Array) => Promise<void>) => Promise<T>,
): Promise<T> {
  const handle = await open(file, "w");
  try {
    return await work(async (piece) => {
      for (let at = 0; at < piece.length; ) at += (await handle.write(piece, at)).bytesWritten;
    });
  } finally {
    await handle.close();
  }
}

/** `writePieces` to a place of its own first, moved there when it is whole. */
export async function writePiecesWhole<T>(
  file: string,
  work: (write: (piece: Uint8Array) => Promise<void>) => Promise<T>,
): Promise<T> {
  return whole(file, async (temporary) => {
    const result = await writePieces(temporary, work);
    renameSync(temporary, file);
    return result;
  });
}

/** Whether `writeFolder` may well succeed, asked before the work for it begins. Makes nothing. */
export function checkFolder(folder: string): void {
  let above = dirname(resolve(folder));
  while (!existsSync(above)) above = dirname(above);
  try {
    opendirSync(above).closeSync();
    accessSync(above, constants.W_OK);
    if (existsSync(folder)) opendirSync(folder).closeSync();
  } catch (error) {
    throw new Error(`cannot write ${folder}: ${systemReason(error)}`, { cause: error });
  }
}

/** A folder that is filled beside its place; files of the same names are replaced, others stay. */
export async function writeFolder(folder: string, fill: (temporary: string) => Promise<void>): Promise<void> {
  await whole(folder, async (temporary) => {
    makeFolder(temporary);
    await fill(temporary);
    if (existsSync(folder)) moveInto(temporary, folder);
    else renameSync(temporary, folder);
  });
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

/** Whatever happens, nothing temporary stays. */
async function whole<T>(path: string, work: (temporary: string) => Promise<T>): Promise<T> {
  const temporary = beside(path);
  const clean = () => {
    if (existsSync(temporary)) rmSync(temporary, { recursive: true, force: true });
  };
  const interrupted = () => {
    clean();
    // As a shell reports a program that was interrupted.
    process.exit(130);
  };
  process.once("SIGINT", interrupted);
  process.once("SIGTERM", interrupted);
  try {
    return await work(temporary);
  } catch (error) {
    if (error instanceof Error && "errno" in error) {
      throw new Error(`cannot write ${path}: ${systemReason(error)}`, { cause: error });
    }
    throw error;
  } finally {
    process.off("SIGINT", interrupted);
    process.off("SIGTERM", interrupted);
    clean();
  }
}
