// A lock that cannot be looked at is not free: a folder of another user's device is never taken over.

import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

/** What a connection to the lock ends with instead of the truth; a test as root has every right. */
const failure = vi.hoisted(() => ({ code: undefined as string | undefined }));
vi.mock("node:net", async (original) => {
  const net = await original<typeof import("node:net")>();
  const { EventEmitter } = await import("node:events");
  return {
    ...net,
    connect: (...args: Parameters<typeof net.connect>) => {
      if (failure.code === undefined) return net.connect(...args);
      const socket = Object.assign(new EventEmitter(), { destroy() {}, resume: () => socket });
      setImmediate(() => {
        socket.emit("error", Object.assign(new Error(failure.code), { code: failure.code }));
        socket.emit("close");
      });
      return socket;
    },
  };
});

const { askLock, isLocked, lockFolder } = await import("../../src/disk/folderLock.ts");

let folder = "";
let other: Server | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-lock-"));
  failure.code = undefined;
});
afterEach(async () => {
  failure.code = undefined;
  await new Promise((done) => (other === undefined ? done(undefined) : other.close(done)));
  other = undefined;
  rmSync(folder, { recursive: true, force: true });
});

/** Somebody else's device in the folder. */
async function held(): Promise<string> {
  const lock = join(folder, "lock");
  other = createServer((socket) => socket.destroy());
  await new Promise<void>((done) => other?.listen(lock, done));
  return lock;
}

describe("a lock that is held", () => {
  test.each(["EACCES", "EPERM", "EAGAIN", "ECONNRESET", "ETIMEDOUT", "EMFILE"])(
    "is not taken over where looking at it ends with %s",
    async (code) => {
      const lock = await held();
      const before = statSync(lock).ino;
      failure.code = code;
      expect(await isLocked(folder)).toBe(true);
      expect(await askLock(folder, 100)).not.toBe("free");
      await expect(lockFolder(folder)).rejects.toThrow("must be free, got one in which a device runs");
      expect(statSync(lock).ino).toBe(before);
    },
  );

  test("is not taken over where it answers", async () => {
    await held();
    expect([await isLocked(folder), await askLock(folder)]).toEqual([true, "answers"]);
    await expect(lockFolder(folder)).rejects.toThrow("must be free");
  });
});

describe("a lock that nobody holds", () => {
  test.each(["ECONNREFUSED", "ENOENT", "ENOTSOCK"])("is free where looking at it ends with %s", async (code) => {
    failure.code = code;
    expect([await isLocked(folder), await askLock(folder)]).toEqual([false, "free"]);
    await (await lockFolder(folder))();
    expect(existsSync(join(folder, "lock"))).toBe(false);
  });
});

test("a device of another user in a folder that both can write is left alone", async ({ skip }) => {
  skip(process.getuid?.() !== 0, "needs root, to make files of another user");
  const lock = await held();
  chownSync(lock, 65_534, 65_534);
  chmodSync(lock, 0o000);
  await expect(lockFolder(folder)).rejects.toThrow("must be free");
});
