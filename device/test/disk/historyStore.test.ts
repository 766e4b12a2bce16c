// Histories and ledgers as files: what a device says it has lost when they are deleted, cut, swapped or rolled back.

import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { realDisk } from "../../src/disk/disk.ts";
import { createHistoryStore, openHistory, readHistory } from "../../src/disk/historyStore.ts";
import { decodeLedger } from "../../src/privacy/ledger.ts";
import { parseStudy } from "../../src/study/study.ts";
import { studyWith } from "../problem.ts";

const open = studyWith();
const priv = parseStudy(
  'name: p\nk: 1\nalpha: 1\nprivacy: private\ntypicalRows: 9\nfeatures:\n  - { name: x, unit: "", min: 0, max: 1 }\n',
);
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-history-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const copies = () => ["history.a", "history.b"].map((name) => join(folder, name));
const published = (...bytes: number[]) => Uint8Array.from(bytes);

/** Opens it as a start of the device does, publishes these one after the other, and closes it. */
async function start(...publications: Uint8Array[]) {
  const history = await openHistory(folder, realDisk);
  for (const bytes of publications) {
    const failure = await new Promise<string | undefined>((done) => history.keep(bytes, done));
    expect(failure).toBeUndefined();
  }
  await history.close();
  return { isLost: history.isLost, saved: history.saved && Array.from(history.saved) };
}

describe("a new device", () => {
  test("has lost nothing, and has nothing to lose", async () => {
    await createHistoryStore(folder, open);
    expect(copies().map(existsSync)).toEqual([true, true]);
    expect(await start()).toEqual({ isLost: false, saved: undefined });
  });

  test("of a private study begins with a ledger that has a secret of its own", async () => {
    await createHistoryStore(folder, priv);
    const first = decodeLedger((await readHistory(folder)) ?? published(), 1);
    expect(first).toMatchObject({ releases: [] });
    rmSync(folder, { recursive: true });
    folder = mkdtempSync(join(tmpdir(), "fedkm-history-"));
    await createHistoryStore(folder, priv);
    expect(decodeLedger((await readHistory(folder)) ?? published(), 1)?.secret).not.toBe(first?.secret);
  });
});

describe("a history that was published", () => {
  beforeEach(async () => {
    await createHistoryStore(folder, open);
    await start(published(1, 2, 3), published(4, 5, 6));
  });

  const damages: Readonly<Record<string, (file: string) => void>> = {
    deleted: (file) => rmSync(file),
    emptied: (file) => truncateSync(file, 0),
    "cut by a byte": (file) => truncateSync(file, readFileSync(file).length - 1),
    "longer by a byte": (file) => writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.of(0)])),
    "with a bit flipped in the middle": (file) => {
      const bytes = readFileSync(file);
      bytes[bytes.length >> 1] ^= 1;
      writeFileSync(file, bytes);
    },
    "another file": (file) => writeFileSync(file, "not a history"),
  };

  test("comes back as it was last", async () => {
    expect(await start()).toEqual({ isLost: false, saved: [4, 5, 6] });
  });

  test.each(Object.keys(damages))("comes back with either copy %s, and is whole again after it", async (damage) => {
    for (const file of copies()) {
      damages[damage](file);
      expect(await start(), file).toEqual({ isLost: false, saved: [4, 5, 6] });
      // The start has written both again: the other copy may go now.
      damages[damage](copies().find((other) => other !== file) ?? "");
      expect(await start(), file).toEqual({ isLost: false, saved: [4, 5, 6] });
    }
  });

  test.each(Object.keys(damages))("is lost with both copies %s, and says so at every start", async (damage) => {
    for (const file of copies()) damages[damage](file);
    expect(await start()).toEqual({ isLost: true, saved: undefined });
    expect(await start()).toEqual({ isLost: true, saved: undefined });
  });

  test("is lost in a folder that never had one", async () => {
    rmSync(folder, { recursive: true });
    folder = mkdtempSync(join(tmpdir(), "fedkm-history-"));
    expect(await start()).toMatchObject({ isLost: true });
  });

  test("does not go back with one old copy, whichever", async () => {
    for (const at of [0, 1]) {
      const old = join(folder, "old");
      copyFileSync(copies()[at], old);
      await start(published(7, at));
      copyFileSync(old, copies()[at]);
      expect(await start()).toEqual({ isLost: false, saved: [7, at] });
    }
  });

  test("is the same with its copies swapped", async () => {
    const [a, b] = copies().map((file) => readFileSync(file));
    writeFileSync(copies()[0], b);
    writeFileSync(copies()[1], a);
    expect(await start()).toEqual({ isLost: false, saved: [4, 5, 6] });
  });

  test("is lost once a neighbour has shown that it is old, and stays so", async () => {
    const old = copies().map((file) => readFileSync(file));
    const before = await openHistory(folder, realDisk);
    await new Promise((done) => before.keep(published(7), done));
    const later = before.heads?.latest();
    await before.close();
    for (const [at, file] of copies().entries()) writeFileSync(file, old[at]);
    const restored = await openHistory(folder, realDisk);
    expect(restored.isLost).toBe(false);
    if (later !== undefined) restored.heads?.lose(later);
    await restored.close();
    expect(await start()).toMatchObject({ isLost: true });
    expect(await start()).toMatchObject({ isLost: true });
  });
});
