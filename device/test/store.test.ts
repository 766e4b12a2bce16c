import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realDisk } from "../src/disk.ts";
import { lockFolder } from "../src/lock.ts";
import type { SavedState } from "../src/memory.ts";
import { simulatedClock } from "../src/simulation/clock.ts";
import { simulatedDisk } from "../src/simulation/disk.ts";
import { openStore, type StoreOptions } from "../src/store.ts";

const stateOf = (round: number): SavedState => ({
  study: "s",
  round,
  centroids: [[1]],
  present: [true],
  opening: { number: 0, seed: 0, sketches: [] },
  own: null,
  sketch: null,
  neighbours: [],
});

let folder: string;
let warnings: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fedkm-store-"));
  warnings = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (options: StoreOptions = {}) => openStore(folder, (line) => warnings.push(line), options);

async function openAndClose(options?: StoreOptions) {
  const store = await open(options);
  await store.close();
  return store;
}

describe("openStore(folder, warn)", () => {
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
    for (let i = 0; i < 3; i++) {
      clock.step(clock.now() + 5_000);
      await new Promise((done) => setTimeout(done, 5));
    }
    expect(warnings).toEqual([expect.stringMatching(/not kept.*ENOSPC/)]);
    isFull = false;
    await store.close();
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
    const child = fork(new URL("./bindLock.mjs", import.meta.url), [join(folder, "lock")]);
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
    const child = fork(new URL("./bindLock.mjs", import.meta.url), [join(folder, "lock")]);
    await once(child, "message");
    child.kill("SIGKILL");
    await once(child, "exit");
    await (await lockFolder(folder))();
  });

  it("works in a folder whose path is too long for a socket", async () => {
    const deep = join(folder, "a".repeat(60), "b".repeat(60));
    await mkdir(deep, { recursive: true });
    const unlock = await lockFolder(deep);
    await expect(lockFolder(deep)).rejects.toThrow("must be free");
    await unlock();
  });
});
