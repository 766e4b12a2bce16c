// The file of a backup: a header, what was saved as JSON, and a SHA-256 over all of it. A passphrase encrypts what was saved.

import { createCipheriv, createDecipheriv, createHash, randomBytes, scrypt } from "node:crypto";

/** What is saved of a device. */
export interface Backup {
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
