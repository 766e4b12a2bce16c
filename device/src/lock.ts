// One device per folder: a socket bound in it. It goes with its process, however that ends, so no lock is ever left over.

import { createHash, randomBytes } from "node:crypto";
import { realpath, rename, rm } from "node:fs/promises";
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
  const name = `fedkm-${createHash("sha256")
    .update(await realpath(folder))
    .digest("hex")
    .slice(0, 32)}`;
  if (platform() === "win32") return `\\\\.\\pipe\\${name}`;
  const inside = join(folder, "lock");
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

/** Takes the address of a process that is gone. */
async function takeOver(address: string): Promise<Server | undefined> {
  // Two may try at once: the name is moved away and looked at again, so that a new owner is noticed and put back.
  const aside = `${address}.${randomBytes(6).toString("hex")}`;
  try {
    await rename(address, aside);
  } catch {
    return bind(address);
  }
  if (await isAlive(aside)) {
    await rename(aside, address);
    return undefined;
  }
  await rm(aside, { force: true });
  return bind(address);
}
