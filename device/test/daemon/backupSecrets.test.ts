// What protects the passphrase of a backup: each guess costs memory and time, and no two backups share salt or nonce.

import { createDecipheriv, scryptSync } from "node:crypto";
import { expect, test } from "vitest";
import { decodeBackup, encodeBackup } from "../../src/daemon/backup.ts";

const backup = { savedAt: "2026-11-18T00:00:00.000Z", epoch: 7, files: new Map([["key", Uint8Array.of(1, 2, 3)]]) };
const PASSPHRASE = "correct horse battery staple";
/** magic 4, version 1, kind 1, salt 16, nonce 12, content, tag 16, sum 32. */
const [SALT, NONCE, CONTENT, TAIL] = [6, 22, 34, 48];

/** As docs/protocol of a backup says it, without our own code: undefined where that does not open it. */
function opened(bytes: Uint8Array, cost: number): string | undefined {
  const key = scryptSync(PASSPHRASE, bytes.subarray(SALT, NONCE), 32, { N: cost, r: 8, p: 1, maxmem: 2 ** 27 });
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(NONCE, CONTENT), { authTagLength: 16 });
  decipher.setAuthTag(bytes.subarray(-TAIL, -32));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(CONTENT, -TAIL)), decipher.final()]).toString();
  } catch {
    return undefined;
  }
}

test("a backup opens with 32 MiB of scrypt, and with no cheaper guess", async () => {
  const bytes = await encodeBackup(backup, PASSPHRASE);
  expect(JSON.parse(opened(bytes, 2 ** 15) ?? "{}")).toMatchObject({ epoch: 7 });
  for (const cheaper of [2, 16, 2 ** 10, 2 ** 14]) expect(opened(bytes, cheaper), `N ${cheaper}`).toBeUndefined();
});

test("no two backups of the same folder share a byte of salt, nonce and content beyond chance", async () => {
  const backups = await Promise.all([1, 2, 3].map(() => encodeBackup(backup, PASSPHRASE)));
  for (const [from, to] of [
    [SALT, NONCE],
    [NONCE, CONTENT],
    [CONTENT, backups[0].length - TAIL],
  ]) {
    const parts = backups.map((bytes) => Buffer.from(bytes.subarray(from, to)).toString("hex"));
    expect(new Set(parts).size).toBe(3);
    for (const part of parts) expect(part).not.toMatch(/^(..)\1*$/);
  }
  for (const bytes of backups) expect(await decodeBackup(bytes, PASSPHRASE)).toMatchObject({ epoch: 7 });
});
