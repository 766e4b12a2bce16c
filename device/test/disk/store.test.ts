import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { simulatedDisk } from "../../../lab/src/faults/durability.ts";
import { realDisk } from "../../src/disk/disk.ts";
import { isLocked, lockFolder } from "../../src/disk/folderLock.ts";
import { openStore, type StoreOptions } from "../../src/disk/store.ts";
import type { SavedState } from "../../src/loop/savedState.ts";
import { simulatedClock } from "../../src/simulation/clock.ts";

const stateOf = (round: number): SavedState => ({
  study: "s",
  round,
  centroids: [[1]],
  present: [true],
  opening: { number: 0, start: 0, sketches: [] },
  own: null,
  sketch: null,
  neighbours: [],
});

let folder: string;
let warnings: string[];
let wrong: Map<string, string>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fedkm-store-"));
  warnings = [];
  wrong = new Map();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (options: StoreOptions = {}) => openStore(folder, (cause, line) => note(cause, line), options);

/** As the notices of a daemon do: a line counts once, until it is over. */
function note(cause: string, line: string | undefined): void {
  if (line !== undefined && wrong.get(cause) !== line) warnings.push(line);
  if (line === undefined) wrong.delete(cause);
  else wrong.set(cause, line);
}

async function openAndClose(options?: StoreOptions) {
  const store = await open(options);
  await store.close();
  return store;
}

describe("openStore(folder, notice)", () => {
  it("gives back the last state that was kept", async () => {
    const store = await open();
    expect(store.saved).toBeUndefined();
    for (let round = 1; round <= 5; round++) store.keep(() => stateOf(round));
    await store.close();
    expect((await openAndClose()).saved).toEqual(stateOf(5));
    expect(warnings).toEqual([]);
  });

  it("has larger epochs at every start, whatever the wall clock does", async () => {
    const decade = 10 * 365 * 86_400_000;
    const now = Date.now();
    const epochs: number[] = [];
    for (const wallClock of [now, now + decade, now - decade, 0, -5, now, now + 2 * decade, now]) {
      epochs.push((await openAndClose({ wallClock: () => wallClock })).epoch);
    }
    expect(epochs[0]).toBe(now);
    for (let i = 1; i < epochs.length; i++) expect(epochs[i]).toBeGreaterThan(epochs[i - 1]);
  });

  it("starts above an epoch that it learnt of, however far ahead, and never below its own", async () => {
    const wallClock = () => 1_000;
    const store = await open({ wallClock });
    expect(store.epoch).toBe(1_000);
    store.goAbove(5_000);
    store.goAbove(4_000);
    store.goAbove(1);
    await store.close();
    expect((await openAndClose({ wallClock })).epoch).toBe(5_001);
    expect((await openAndClose({ wallClock })).epoch).toBe(5_002);
    expect(wrong.size).toBe(0);
  });

  it("says that an epoch cannot be kept, and keeps a learnt one when it is named again", async () => {
    let isFull = false;
    const disk = {
      ...realDisk,
      create(path: string) {
        if (isFull && path.includes("epoch")) throw new Error("ENOSPC: no space left on device");
        return realDisk.create(path);
      },
    };
    isFull = true;
    await expect(open({ disk })).rejects.toThrow(/epoch\.a and \.b must be written .*, free the disk .*: ENOSPC/);
    isFull = false;
    const store = await open({ disk, wallClock: () => 1_000 });
    isFull = true;
    store.goAbove(5_000);
    await vi.waitFor(
      () => expect(wrong.get("epoch")).toMatch(/^the epoch for the next start is not kept: ENOSPC/),
      600_000,
    );
    isFull = false;
    store.goAbove(5_000);
    await store.close();
    expect(wrong.size).toBe(0);
    expect((await openAndClose({ wallClock: () => 1_000 })).epoch).toBe(5_001);
  });

  it("keeps its epoch with either copy damaged, and does not start with both", async () => {
    const ahead = Date.now() + 1e12;
    await openAndClose({ wallClock: () => ahead });
    await writeFile(join(folder, "epoch.a"), "damaged");
    expect((await openAndClose()).epoch).toBe(ahead + 1);
    await writeFile(join(folder, "epoch.b"), "damaged");
    expect((await openAndClose()).epoch).toBe(ahead + 2);
    await writeFile(join(folder, "epoch.a"), "damaged");
    await writeFile(join(folder, "epoch.b"), "damaged");
    await expect(open()).rejects.toThrow(/epoch\.a or \.b must be readable/);
    // And it has given the folder free again.
    await (await lockFolder(folder))();
  });

  it("starts afresh, and says so, where both copies of the state are damaged", async () => {
    for (const round of [1, 2]) {
      const store = await open();
      store.keep(() => stateOf(round));
      await store.close();
    }
    await writeFile(join(folder, "state.b"), "damaged");
    expect((await openAndClose()).saved).toEqual(stateOf(1));
    expect(warnings).toEqual([expect.stringMatching(/one of two copies .* is damaged/)]);
    await writeFile(join(folder, "state.a"), "damaged");
    expect((await openAndClose()).saved).toBeUndefined();
    expect(warnings[1]).toMatch(/starts afresh/);
  });

  it("writes the first state at once, then the latest of every five seconds", async () => {
    const clock = simulatedClock();
    const disk = simulatedDisk();
    const store = await open({ clock, disk });
    for (let i = 0; i < 90; i++) {
      store.keep(() => stateOf(i));
      // A write on this disk takes no time, only promises.
      const until = clock.now() + 100;
      while (clock.step(until)) await new Promise(setImmediate);
    }
    const writes = disk.calls.filter(({ kind, path }) => kind === "create" && path.includes("state"));
    expect(writes.length).toBe(2);
    await store.close();
    expect((await openAndClose({ disk })).saved).toEqual(stateOf(89));
  });

  it("warns once where the disk is full, keeps the old state, and goes on when there is room", async () => {
    const first = await open();
    first.keep(() => stateOf(1));
    await first.close();
    let isFull = true;
    const disk = {
      ...realDisk,
      create(path: string) {
        if (isFull && path.includes("state")) throw new Error("ENOSPC: no space left on device");
        return realDisk.create(path);
      },
    };
    const clock = simulatedClock();
    const store = await open({ disk, clock });
    store.keep(() => stateOf(2));
    while (store.failedWrites() < 2) {
      clock.step(clock.now() + 5_000);
      await new Promise((done) => setTimeout(done, 5));
    }
    expect(warnings).toEqual([expect.stringMatching(/not kept.*ENOSPC/)]);
    expect([...wrong.values()]).toEqual(warnings);
    expect(store.failedWrites()).toBeGreaterThan(1);
    isFull = false;
    await store.close();
    expect(wrong.size).toBe(0);
    expect((await openAndClose()).saved).toEqual(stateOf(2));
  });

  it("removes what a crash in the middle of a save left behind, and nothing else", async () => {
    await writeFile(join(folder, "state.a.0123456789ab.tmp"), "half");
    await writeFile(join(folder, "links.json.0123456789ab.tmp"), "somebody else's");
    await openAndClose();
    expect(await readdir(folder)).toEqual(["epoch.a", "epoch.b", "links.json.0123456789ab.tmp"]);
    expect(await readFile(join(folder, "links.json.0123456789ab.tmp"), "utf8")).toBe("somebody else's");
  });
});

describe("lockFolder(folder)", () => {
  it("is one lock, however the folder is named", async () => {
    // So long that a socket inside can be addressed by the short name only.
    const deep = join(folder, "a-folder-of-a-project-with-a-long-name".repeat(3), "north");
    await mkdir(deep, { recursive: true });
    await symlink(deep, join(folder, "short"));
    const unlock = await lockFolder(join(folder, "short"));
    await expect(lockFolder(deep)).rejects.toThrow("must be free");
    await unlock();
  });

  it("lets one in at a time", async () => {
    const unlock = await lockFolder(folder);
    await expect(lockFolder(folder)).rejects.toThrow("must be free");
    await unlock();
    await (await lockFolder(folder))();
  });

  it("lets one in of many that come at once", async () => {
    const tries = await Promise.allSettled(Array.from({ length: 20 }, () => lockFolder(folder)));
    const got = tries.filter((result) => result.status === "fulfilled");
    expect(got.length).toBe(1);
    await got[0].value();
  });

  it("takes over from a process that was killed", async () => {
    const child = fork(new URL("../bindLock.mjs", import.meta.url), [join(folder, "lock")]);
    await once(child, "message");
    await expect(lockFolder(folder)).rejects.toThrow("must be free");
    child.kill("SIGKILL");
    await once(child, "exit");
    // The name is still there; nobody answers at it.
    expect(await readdir(folder)).toEqual(["lock"]);
    const tries = await Promise.allSettled(Array.from({ length: 20 }, () => lockFolder(folder)));
    const got = tries.filter((result) => result.status === "fulfilled");
    expect(got.length).toBe(1);
    await got[0].value();
    expect(await readdir(folder)).toEqual([]);
  });

  it("takes over although a process was killed while it took over", async () => {
    await mkdir(join(folder, "lock.claim"));
    const child = fork(new URL("../bindLock.mjs", import.meta.url), [join(folder, "lock")]);
    await once(child, "message");
    child.kill("SIGKILL");
    await once(child, "exit");
    await (await lockFolder(folder))();
  });

  it("holds in a folder whose path is too long for a socket, whatever TMPDIR is and however the other process ends", async () => {
    const deep = join(folder, "a".repeat(60), "b".repeat(60));
    await mkdir(deep, { recursive: true });
    const unlock = await lockFolder(deep);
    expect(await readdir(deep)).toEqual(["lock"]);
    expect(await isLocked(deep)).toBe(true);
    vi.stubEnv("TMPDIR", folder);
    try {
      await expect(lockFolder(deep)).rejects.toThrow("must be free");
    } finally {
      vi.unstubAllEnvs();
    }
    await unlock();
    expect([await isLocked(deep), await readdir(deep)]).toEqual([false, []]);
    const child = fork(new URL("../bindLock.mjs", import.meta.url), ["lock"], { cwd: deep });
    await once(child, "message");
    expect(await isLocked(deep)).toBe(true);
    await expect(lockFolder(deep)).rejects.toThrow("must be free");
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await isLocked(deep)).toBe(false);
    await (await lockFolder(deep))();
    expect(await readdir(deep)).toEqual([]);
  });

  it("names the lock where it cannot be made", async () => {
    await mkdir(join(folder, "lock", "in the way"), { recursive: true });
    await expect(lockFolder(folder)).rejects.toThrow(/lock must be a socket that this user can make/);
  });
});
