// A key is its owner's alone: any right of the group or of others, whichever, stops the device.

import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createIdentityFile, readIdentity } from "../../src/disk/identityFile.ts";

let folder = "";
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-owner-"));
  await createIdentityFile(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const rights = Array.from({ length: 0o100 }, (_, others) => others);

test("readIdentity takes a key that only its owner has rights to", async () => {
  for (const mode of [0o400, 0o600, 0o700]) {
    chmodSync(join(folder, "key"), mode);
    await expect(readIdentity(folder, "linux")).resolves.toHaveProperty("peer");
  }
});

test("readIdentity refuses a key with any right of the group or of others", async () => {
  for (const others of rights.slice(1)) {
    const mode = 0o600 | others;
    chmodSync(join(folder, "key"), mode);
    await expect(readIdentity(folder, "linux"), mode.toString(8)).rejects.toThrow(`got mode ${mode.toString(8)}`);
  }
});
