// Who a device is on disk: the file of its key.

import { createPublicKey } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { platform } from "node:os";
import { dirname, join } from "node:path";
import { reasonOf } from "../environment.ts";
import { secretOf } from "../keys/nodeKeys.ts";
import { createIdentity, type Identity, identityOf, KEY_HEAD } from "../keys/peer.ts";
import { SECRET_BYTES } from "../keys/secrets.ts";
import { createFile, realDisk } from "./disk.ts";

export const KEY_FILE = "key";

/** Writes a key for its owner's eyes only, which never existed unless it is given. Fails where there is one already. */
export async function createIdentityFile(folder: string, given?: Identity): Promise<Identity> {
  const identity = given ?? (await createIdentity());
  const path = join(folder, KEY_FILE);
  await createFile(path, identity.key);
  await realDisk.syncFolder(dirname(path));
  return identity;
}

/** `system` decides about permissions: Windows has no modes, and shows every file as readable by all. */
export async function readIdentity(folder: string, system: string = platform()): Promise<Identity> {
  const path = join(folder, KEY_FILE);
  const bytes = new Uint8Array(await readFile(path).catch((error) => damagedKey(path, reasonOf(error), error)));
  const mode = (await stat(path)).mode & 0o777;
  if (system !== "win32" && (mode & 0o077) !== 0) {
    throw new Error(`${path} must be readable by its owner only (chmod 600), got mode ${mode.toString(8)}`);
  }
  return identityInFile(path, bytes);
}

/** Throws a line that names the file if it holds no whole key. */
export function identityInFile(path: string, bytes: Uint8Array): Identity {
  const fault = keyFault(bytes);
  return fault === undefined ? identityOf(bytes) : damagedKey(path, fault);
}

function damagedKey(path: string, got: string, cause?: unknown): never {
  const rule = "must hold the key that device init wrote, restore it from a backup or make a new device";
  throw new Error(`${path} ${rule}, got ${got}`, { cause });
}

/** A key is kept with the public key of its secret. A secret with another public key would start, and be nobody. */
function keyFault(bytes: Uint8Array): string | undefined {
  const isWhole = bytes.length === KEY_HEAD.length + 2 * SECRET_BYTES && KEY_HEAD.every((byte, i) => bytes[i] === byte);
  if (!isWhole) return `${bytes.length} other bytes`;
  const derived = createPublicKey(secretOf(bytes)).export({ format: "der", type: "spki" }).subarray(-SECRET_BYTES);
  const kept = bytes.subarray(KEY_HEAD.length + SECRET_BYTES);
  return derived.equals(kept) ? undefined : "a damaged one: its secret and its public key do not belong together";
}
