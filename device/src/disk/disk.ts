// What a device asks of a disk, so that a test can be one that loses power or is full; and the write that survives both.

import { randomBytes } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { platform } from "node:os";
import { dirname, resolve } from "node:path";
import { type Clock, reasonOf } from "../environment.ts";
import { STATE_MILLISECONDS } from "../wire/limits.ts";

interface NewFile {
  write(bytes: Uint8Array): Promise<void>;
  /** What was written survives a loss of power. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** A disk as a device uses it: files are whole or not there. */
export interface Disk {
  /** Undefined: there is none. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** A new file for its owner's eyes only; fails where one is. */
  create(path: string): Promise<NewFile>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  list(folder: string): Promise<string[]>;
  /** What was created and renamed in the folder survives a loss of power. */
  syncFolder(folder: string): Promise<void>;
}

export const realDisk: Disk = {
  async read(path) {
    try {
      return await readFile(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  },
  async create(path) {
    const handle = await open(path, "wx", 0o600);
    return {
      write: (bytes) => handle.writeFile(bytes),
      sync: () => handle.sync(),
      close: () => handle.close(),
    };
  },
  rename,
  remove: (path) => rm(path, { force: true }),
  list: (folder) => readdir(folder),
  async syncFolder(folder) {
    // Windows opens no folders; its renames are written through by the file system's journal.
    if (platform() === "win32") return;
    const handle = await open(folder, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};

/** Makes a folder for its owner only, and the folders above it that are missing, so that none is lost with the power. */
export async function makeFolder(path: string, disk: Pick<Disk, "syncFolder"> = realDisk): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  // A new folder is an entry of the one above it.
  const top = dirname(resolve(first));
  for (let folder = resolve(path); folder !== top; folder = dirname(folder)) await disk.syncFolder(dirname(folder));
}

/** Makes a file that survives a loss of power; fails where one is. */
export async function createFile(path: string, bytes: Uint8Array, disk: Disk = realDisk): Promise<void> {
  const file = await disk.create(path);
  try {
    await file.write(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Replaces a file so that after a crash it is exactly the old one or exactly the new one. */
export async function durableWrite(path: string, content: Uint8Array | string, disk: Disk = realDisk): Promise<void> {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    // Synced before the rename: a file system may rename before it writes.
    await createFile(temporary, bytes, disk);
    await disk.rename(temporary, path);
  } catch (error) {
    await disk.remove(temporary).catch(() => {});
    throw error;
  }
  await disk.syncFolder(dirname(path));
}

/** What a file holds. Where that cannot be read, it throws one line that names the file and what to do about it. */
export async function explainDamage<T>(file: string, rule: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
    const reason = isMissing ? "it is missing" : reasonOf(error).replaceAll(file, "it");
    throw new Error(`${file} ${rule}: ${reason}`, { cause: error });
  }
}

/** A JSON file that a person can read. */
export function durableWriteJson(path: string, value: unknown, disk?: Disk): Promise<void> {
  return durableWrite(path, `${JSON.stringify(value, undefined, 2)}\n`, disk);
}

/**
 * Saves the latest that it is given now and then, one write at a time. `onSaved` learns why a write failed, after which it
 * is tried again, or that it did not. `firstWait`: milliseconds before the first one.
 */
export function latestKeeper<T>(
  clock: Clock,
  save: (value: T) => Promise<void>,
  onSaved: (failure: string | undefined) => void,
  firstWait = 0,
) {
  let latest: { readonly value: T } | undefined;
  let failures = 0;
  let cancel: (() => void) | undefined;
  let writing: Promise<void> | undefined;
  let nextAt = clock.now() + firstWait;

  const write = async () => {
    const given = latest;
    if (given === undefined) return;
    latest = undefined;
    try {
      await save(given.value);
      onSaved(undefined);
    } catch (error) {
      // What was saved before is still there. Something newer may have come meanwhile; else this is tried again.
      latest ??= given;
      failures += 1;
      onSaved(writeReason(error));
    }
  };
  const schedule = () => {
    if (cancel !== undefined || writing !== undefined || latest === undefined) return;
    cancel = clock.after(Math.max(0, nextAt - clock.now()), () => {
      cancel = undefined;
      nextAt = clock.now() + STATE_MILLISECONDS;
      writing = write().then(() => {
        writing = undefined;
        schedule();
      });
    });
  };
  return {
    failedWrites: () => failures,
    keep(value: T) {
      latest = { value };
      schedule();
    },
    async flush() {
      await writing;
      await write();
    },
    async close() {
      // Also stops the schedule that the end of a write would set.
      const last = latest;
      latest = undefined;
      cancel?.();
      await writing;
      cancel?.();
      latest = last ?? latest;
      await write();
      latest = undefined;
    },
  };
}

/** Every attempt has a temporary file of its own; the reason is the same, and its words should be. */
export function writeReason(error: unknown): string {
  return reasonOf(error).replace(/\.[0-9a-f]{12}\.tmp/g, "");
}
