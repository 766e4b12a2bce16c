// One device per folder: a socket bound in it. It goes with its process, however that ends, so no lock is ever left over.

import { createHash } from "node:crypto";
import { mkdir, realpath, rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";

/** What the address of a Unix socket holds on every system. */
const LONGEST_ADDRESS = 100;

/** Locks a folder until the returned function is called. Throws if another process has it. */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const address = await addressOf(folder);
  const server = (await bind(address)) ?? ((await isAlive(address)) ? undefined : await takeOver(address));
  if (server === undefined) throw new Error(`${folder} must be free, got one in which a device runs`);
  // A lock alone is no reason to go on.
  server.unref();
  return () => new Promise((done) => server.close(() => done()));
}

async function addressOf(folder: string): Promise<string> {
  // However the folder was named: its lock is in one place.
  const place = await realpath(folder);
  const name = `fedkm-${createHash("sha256").update(place).digest("hex").slice(0, 32)}`;
  if (platform() === "win32") return `\\\\.\\pipe\\${name}`;
  const inside = join(place, "lock");
  return Buffer.byteLength(inside) <= LONGEST_ADDRESS ? inside : join(tmpdir(), name);
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
    socket.once("error", () => done(false));
  });
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
