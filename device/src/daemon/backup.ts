// A state folder saved in one file, and made again from it: all of it or nothing. The file is a header, what was saved as
// JSON, and a SHA-256 over all of it; a passphrase encrypts what was saved.

import { createCipheriv, createDecipheriv, createHash, randomBytes, scrypt } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, rename, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { isAddress } from "@fedkm/sql/address";
import { durableWrite, makeFolder, realDisk } from "../disk/disk.ts";
import { readEpochFile, writeEpochFile } from "../disk/store.ts";
import { reasonOf } from "../environment.ts";
import { readFolder } from "./folder.ts";

interface Backup {
  readonly savedAt: string;
  /** Of its last start: the restored device begins above it. */
  readonly epoch: number;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** magic 4, version 1, kind 1; if it is encrypted, salt 16 and nonce 12; then the content, its tag and the sum. */
const MAGIC = Buffer.from("fdkb");
const VERSION = 1;
const PLAIN = 0;
const ENCRYPTED = 1;
const HEADER_BYTES = 6;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SUM_BYTES = 32;

/** 32 MiB and a tenth of a second for each guess at the passphrase. */
const SCRYPT = { N: 1 << 15, r: 8, p: 1, maxmem: 1 << 26 };
const KEY_BYTES = 32;

export async function encodeBackup({ savedAt, epoch, files }: Backup, passphrase?: string): Promise<Uint8Array> {
  const encoded = Array.from(files, ([name, bytes]) => [name, Buffer.from(bytes).toString("base64")]);
  const content = Buffer.from(JSON.stringify({ savedAt, epoch, files: Object.fromEntries(encoded) }));
  const header = Buffer.from([...MAGIC, VERSION, passphrase === undefined ? PLAIN : ENCRYPTED]);
  const body = Buffer.concat([
    header,
    ...(passphrase === undefined ? [content] : await encryptedContent(content, passphrase)),
  ]);
  return Buffer.concat([body, checksumOf(body)]);
}

/** Throws one line that says why the bytes are no whole backup, or that the passphrase is not theirs. */
export async function decodeBackup(bytes: Uint8Array, passphrase?: string): Promise<Backup> {
  const body = Buffer.from(bytes.subarray(0, Math.max(0, bytes.length - SUM_BYTES)));
  if (body.length < HEADER_BYTES || !body.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new Error("backup must be a file that device backup wrote, got something else");
  }
  if (!checksumOf(body).equals(bytes.subarray(body.length))) {
    throw new Error("backup must be whole, got a damaged one: its checksum is another");
  }
  const [version, kind] = body.subarray(MAGIC.length, HEADER_BYTES);
  if (version !== VERSION || kind > ENCRYPTED) {
    throw new Error(`backup must be of version ${VERSION} (update fedkm), got version ${version}, kind ${kind}`);
  }
  if (kind === ENCRYPTED && passphrase === undefined) {
    throw new Error("backup must be given with its passphrase (--passphrase-file), because it is encrypted, got none");
  }
  const rest = body.subarray(HEADER_BYTES);
  const content = kind === ENCRYPTED ? await decryptedContent(rest, passphrase ?? "") : rest;
  const { savedAt, epoch, files } = JSON.parse(content.toString());
  if (!Number.isSafeInteger(epoch)) throw new Error(`backup must hold an epoch, got ${JSON.stringify(epoch)}`);
  const decoded = Object.entries(files ?? {}).map(([name, text]): [string, Uint8Array] => {
    return [name, Buffer.from(String(text), "base64")];
  });
  return { savedAt, epoch, files: new Map(decoded) };
}

async function encryptedContent(content: Buffer, passphrase: string): Promise<Buffer[]> {
  const [salt, nonce] = [randomBytes(SALT_BYTES), randomBytes(NONCE_BYTES)];
  const cipher = createCipheriv("aes-256-gcm", await keyOf(passphrase, salt), nonce);
  const hidden = Buffer.concat([cipher.update(content), cipher.final()]);
  return [salt, nonce, hidden, cipher.getAuthTag()];
}

async function decryptedContent(bytes: Buffer, passphrase: string): Promise<Buffer> {
  const salt = bytes.subarray(0, SALT_BYTES);
  const nonce = bytes.subarray(SALT_BYTES, SALT_BYTES + NONCE_BYTES);
  const key = await keyOf(passphrase, salt);
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    const hidden = bytes.subarray(SALT_BYTES + NONCE_BYTES, -TAG_BYTES);
    return Buffer.concat([decipher.update(hidden), decipher.final()]);
  } catch (error) {
    // The checksum was right, so the file is as it was written.
    throw new Error("passphrase must be the one that the backup was made with, got another", { cause: error });
  }
}

function keyOf(passphrase: string, salt: Buffer): Promise<Buffer> {
  return new Promise((done, fail) => {
    scrypt(passphrase, salt, KEY_BYTES, SCRYPT, (error, key) => (error === null ? done(key) : fail(error)));
  });
}

function checksumOf(body: Buffer): Buffer {
  return createHash("sha256").update(body).digest();
}

/** The files of a state folder that a backup holds. The epoch is saved as a number, and centroids can be computed again. */
const savedFiles = [
  "key",
  "device.json",
  "study.yaml",
  "links.json",
  "met.json",
  "rotation.json",
  "key.next",
  "revoked.json",
  "members.json",
  "next.yaml",
];

/** The keys before, and the audit log, which are as many files as the years made. */
const SAVED_NAMES = /^(key\.old\.\w+|audit[\w.-]*\.jsonl)$/;

interface BackupSettings {
  /** Encrypts the file; none: whoever reads the file has the key. */
  readonly passphrase: string | undefined;
  readonly at: Date;
}

/** Works whether the device runs or not: each file is only ever replaced whole. Fails where one is damaged. */
export async function backUpFolder(path: string, out: string, { passphrase, at }: BackupSettings): Promise<Backup> {
  await readFolder(path);
  const files = new Map<string, Uint8Array>();
  for (const name of savedFiles) {
    const bytes = await realDisk.read(join(path, name));
    if (bytes !== undefined) files.set(name, bytes);
  }
  for (const name of await readdir(path)) if (SAVED_NAMES.test(name)) files.set(name, await readFile(join(path, name)));
  const backup = { savedAt: at.toISOString(), epoch: await readEpochFile(path), files };
  const bytes = await encodeBackup(backup, passphrase);
  try {
    await durableWrite(out, bytes);
  } catch (error) {
    throw new Error(`${out} must be a place where a file can be written: ${reasonOf(error)}`, { cause: error });
  }
  return backup;
}

/** Makes a new state folder. Fails where there are files already. `missingData`: those that this machine does not have. */
export async function restoreFolder(file: string, path: string, passphrase?: string) {
  if (existsSync(path) && (await readdir(path)).length > 0) {
    throw new Error(`${path} must be a new or empty folder, got one with files`);
  }
  const { savedAt, epoch, files } = await decodeBackup(await readBackup(file), passphrase);
  const stranger = [...files.keys()].find((name) => !savedFiles.includes(name) && !SAVED_NAMES.test(name));
  if (stranger !== undefined) {
    throw new Error(`${file} must hold files of a device only (update fedkm), got ${JSON.stringify(stranger)}`);
  }
  const place = resolve(path);
  // Beside its place, so that one rename makes all of it appear.
  const temporary = join(dirname(place), `.${basename(place)}.${randomBytes(6).toString("hex")}.new`);
  try {
    await makeFolder(temporary);
    for (const [name, bytes] of files) await durableWrite(join(temporary, name), bytes);
    await writeEpochFile(temporary, epoch);
    const { name, data } = await readFolder(temporary);
    if (existsSync(place)) await rmdir(place);
    await rename(temporary, place);
    await realDisk.syncFolder(dirname(place));
    return { name, savedAt, epoch, missingData: data.filter((own) => !isAddress(own) && !existsSync(own)) };
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    const reason = reasonOf(error).replaceAll(temporary, place);
    throw new Error(`nothing is restored: ${reason}`, { cause: error });
  }
}

async function readBackup(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new Error(`${file} must be a file that can be read: ${reasonOf(error)}`, { cause: error });
  }
}
