// members.json: what members of a study with founders have said of others, signed; and what the owner of this device adds,
// with a command or by a new key. A running device follows within seconds and passes it on.

import { join } from "node:path";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { durableWriteJson, explainDamage, realDisk } from "../disk/disk.ts";
import { changeUnderMutex } from "../disk/fileMutex.ts";
import { readOldKeyFile } from "../disk/keyFiles.ts";
import { nodeSecrets } from "../keys/nodeSecrets.ts";
import { peerOf, publicKeyOf } from "../keys/peer.ts";
import { idOf } from "../keys/secrets.ts";
import { decodeMemberStatements, memberStatement, membershipOf } from "../sharedClusters/membership.ts";
import { contractOf } from "../study/study.ts";
import type { DeviceFolder } from "./folder.ts";

export const MEMBERS_FILE = "members.json";

/** Statements as they travel. Their signatures are the device's to check: some may be of an earlier study. */
export async function readMemberFile(folder: string): Promise<Uint8Array[]> {
  const path = join(folder, MEMBERS_FILE);
  const bytes = await realDisk.read(path);
  if (bytes === undefined) return [];
  const rule = "must be what members said of others, restore it from a backup or write [] to hear it again";
  return explainDamage(path, rule, () =>
    JSON.parse(new TextDecoder().decode(bytes)).map(({ statement }: { statement: unknown }) => {
      const found = new Uint8Array(Buffer.from(String(statement), "base64url"));
      if (decodeMemberStatements(found)?.length !== 1)
        throw new RangeError(`a statement must be whole, got ${String(statement).slice(0, 20)}...`);
      return found;
    }),
  );
}

/** A command and a running device take turns. */
export async function addToMemberFile(folder: string, statements: readonly Uint8Array[]): Promise<void> {
  await changeUnderMutex(join(folder, "members.lock"), async () => {
    const all = new Map([...(await readMemberFile(folder)), ...statements].map((one) => [bytesToHex(one), one]));
    const list = [...all.values()].flatMap((bytes) => {
      const [{ kind, key, signer, counter, mostRows }] = decodeMemberStatements(bytes) ?? [];
      const [about, by] = [key, signer].map((one) => peerOf(hexToBytes(one)));
      return { kind, key: about, signer: by, counter, mostRows, statement: Buffer.from(bytes).toString("base64url") };
    });
    return () => durableWriteJson(join(folder, MEMBERS_FILE), list);
  });
}

/** Who the members are as far as this folder knows; undefined: links decide who takes part. */
async function membershipIn({ path, identity, study }: Pick<DeviceFolder, "path" | "identity" | "study">) {
  const secrets = nodeSecrets(identity);
  const { hash } = await contractOf(study);
  const membership = membershipOf(study, hash, secrets);
  const said = await readMemberFile(path);
  membership?.add(said.flatMap((bytes) => decodeMemberStatements(bytes) ?? []));
  return membership && { membership, secrets, hash };
}

/**
 * The owner of this device vouches for a key, or wants it to go. Returns how many have said so, and how many are needed.
 * `mostRows`: how many rows it may hold; 0: any number.
 */
export async function voteOnMember(folder: DeviceFolder, kind: "admit" | "remove", peer: string, mostRows?: number) {
  const { study, identity } = folder;
  const found = await membershipIn(folder);
  if (found === undefined)
    throw new Error(`study must name its founders for members to be chosen, got one in which links decide`);
  const { membership, secrets, hash } = found;
  const key = publicKeyOf(peer);
  const isIn = membership.isMember(idOf(key));
  if (!membership.isMember(idOf(secrets.key)))
    throw new Error(`${folder.name} must be a member itself, got a device that is none (its key is ${identity.peer})`);
  if (isIn !== (kind === "remove"))
    throw new Error(
      `${peer} must ${isIn ? "not be a member yet" : "be a member"}, got one that is${isIn ? "" : " not"}`,
    );
  const counter = membership.countersOf(key)[kind];
  const rows = kind === "admit" ? (mostRows ?? study.mostRows ?? 0) : 0;
  const statement = memberStatement(hash, secrets, { kind, key, counter, mostRows: rows });
  membership.add([statement]);
  await addToMemberFile(folder.path, [statement.bytes]);
  const isDone = membership.isMember(idOf(key)) !== isIn;
  const voices = isDone ? (study.vouchers ?? 0) : membership.voicesFor(key, kind);
  return { isDone, voices, vouchers: study.vouchers ?? 0 };
}

/** The owner of this device does not want its rows to count any more, under this key. */
export async function leaveMembers(folder: DeviceFolder): Promise<void> {
  const found = await membershipIn(folder);
  if (found?.membership.isMember(idOf(found.secrets.key))) await voteOnMember(folder, "remove", folder.identity.peer);
}

/** The device has another key: with the one before it says so to all members. */
export async function succeedMember(folder: Pick<DeviceFolder, "path" | "identity" | "study">, from: string) {
  const old = await readOldKeyFile(folder.path, from);
  const found = await membershipIn(folder);
  if (old === undefined || found === undefined) return;
  const statement = memberStatement(found.hash, nodeSecrets(old), { next: found.secrets });
  await addToMemberFile(folder.path, [statement.bytes]);
}
