// One device per folder: a socket bound in it. It goes with its process, however that ends, so no lock is ever left over.

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, realpath, rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { platform } from "node:os";
import { join } from "node:path";
import { reasonOf } from "../environment.ts";

/** What the address of a Unix socket holds on every system. */
const LONGEST_ADDRESS = 100;

/** Locks a folder until the returned function is called. Throws if another process has it. */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const { address, forget } = await lockPlace(folder);
  let server: Server | undefined;
  try {
    server = (await bind(address)) ?? ((await isAlive(address)) ? undefined : await takeOver(address));
  } catch (error) {
    await forget();
    const rule = "must be a socket that this user can make (check the folder's owner and its file system)";
    throw new Error(`${join(folder, "lock")} ${rule}: ${reasonOf(error)}`, { cause: error });
  }
  if (server === undefined) {
    await forget();
    throw new Error(`${folder} must be free, got one in which a device runs`);
  }
  const bound = server;
  // A lock alone is no reason to go on.
  bound.unref();
  return async () => {
    await new Promise<void>((done) => bound.close(() => done()));
    await forget();
  };
}

/** Whether a device runs in the folder, whatever the last one wrote before it ended. */
export async function isLocked(folder: string): Promise<boolean> {
  const { address, forget } = await lockPlace(folder);
  try {
    return await isAlive(address);
  } finally {
    await forget();
  }
}

/** `free`: no device runs there. `answers`: its process lives. `silent`: it holds the lock, and does not answer in time. */
export type LockAnswer = "free" | "answers" | "silent";

/** A process that is busy with its first k-means may take seconds; one that takes longer hangs or was stopped. */
export const LOCK_ANSWER_MILLISECONDS = 8_000;

/** The system accepts a connection for a process that hangs, but only one that lives closes it. */
export async function askLock(folder: string, within = LOCK_ANSWER_MILLISECONDS): Promise<LockAnswer> {
  const { address, forget } = await lockPlace(folder);
  try {
    return await new Promise((done) => {
      const socket = connect(address).resume();
      let isConnected = false;
      const end = (answer: LockAnswer) => {
        clearTimeout(patience);
        socket.destroy();
        done(answer);
      };
      const patience = setTimeout(() => end("silent"), within);
      socket.once("connect", () => {
        isConnected = true;
      });
      socket.once("close", () => end("answers"));
      socket.once("error", ({ code }: NodeJS.ErrnoException) => {
        if (isConnected) end("answers");
        else end(isNobody(code) ? "free" : "silent");
      });
    });
  } finally {
    await forget();
  }
}

/** Does one thing where a device runs in the folder, and else the other, under its lock. Returns whether one runs. */
export async function ifFolderLocked(
  folder: string,
  { running, stopped }: Readonly<Record<"running" | "stopped", () => Promise<void>>>,
): Promise<boolean> {
  const unlock = await lockFolder(folder).catch(() => undefined);
  if (unlock === undefined) {
    await running();
    return true;
  }
  try {
    await stopped();
  } finally {
    await unlock();
  }
  return false;
}

/** Where the lock of a folder is, and what to do when the address is not needed any more. */
async function lockPlace(folder: string) {
  // However the folder was named: its lock is in one place.
  const place = await realpath(folder);
  const nothing = async () => {};
  const name = `fedkm-${createHash("sha256").update(place).digest("hex").slice(0, 32)}`;
  if (platform() === "win32") return { address: `\\\\.\\pipe\\${name}`, forget: nothing };
  const inside = join(place, "lock");
  if (Buffer.byteLength(inside) <= LONGEST_ADDRESS) return { address: inside, forget: nothing };
  // A name for the same folder that is short. The place for temporary files would do, but it is another one for each
  // user and each service, and a lock that two processes look for in two places is none.
  if (existsSync("/proc/self/fd")) {
    const handle = await open(place, "r");
    return { address: `/proc/self/fd/${handle.fd}/lock`, forget: () => handle.close() };
  }
  return { address: join("/tmp", name), forget: nothing };
}

/** Undefined: the address is taken. */
function bind(address: string): Promise<Server | undefined> {
  return new Promise((done, fail) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") done(undefined);
      else fail(error);
    });
    server.listen(address, () => done(server));
  });
}

function isAlive(address: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(address);
    socket.once("connect", () => {
      socket.destroy();
      done(true);
    });
    // Nobody listens, or there is nothing. Any other failure, such as a missing right, says nothing about the other process.
    socket.once("error", ({ code }: NodeJS.ErrnoException) => done(!isNobody(code)));
  });
}

function isNobody(code: string | undefined): boolean {
  return ["ECONNREFUSED", "ENOENT", "ENOTSOCK"].includes(code ?? "");
}

/** Takes the address of a process that is gone; undefined: another process was faster. */
async function takeOver(address: string): Promise<Server | undefined> {
  const claim = `${address}.claim`;
  for (let tries = 1; ; tries++) {
    // Only whoever makes this folder may remove the address, or two that come at once could remove each other's.
    if (await isMade(claim)) {
      try {
        if (await isAlive(address)) return undefined;
        await rm(address, { force: true });
        return await bind(address);
      } finally {
        await rm(claim, { recursive: true, force: true });
      }
    }
    if (await isAlive(address)) return undefined;
    // A claim lasts milliseconds. This one was left by a process that ended in them.
    if (tries % CLAIM_TRIES === 0) await rm(claim, { recursive: true, force: true });
    await new Promise((done) => setTimeout(done, CLAIM_PAUSE_MILLISECONDS));
  }
}

const CLAIM_TRIES = 100;
const CLAIM_PAUSE_MILLISECONDS = 20;

async function isMade(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}
