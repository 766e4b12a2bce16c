// met.json: where each neighbour was last met, for the next start. It can be lost: then the links' own addresses are left.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, reasonOf } from "../environment.ts";
import { peerReachFault } from "../keys/peer.ts";
import type { PeerAddresses } from "../links/addressBook.ts";
import { STATE_MILLISECONDS } from "../wire/limits.ts";
import { durableWriteJson, latestKeeper } from "./disk.ts";

const MET_FILE = "met.json";

export async function readPeerAddresses(folder: string, warn: (line: string) => void): Promise<PeerAddresses> {
  const path = join(folder, MET_FILE);
  try {
    const usable = (addresses: unknown[]) => addresses.map(String).filter((text) => peerReachFault(text) === undefined);
    const entries = Object.entries<unknown[]>(JSON.parse(await readFile(path, "utf8")));
    return Object.fromEntries(entries.map(([peer, addresses]) => [peer, usable(addresses)]));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      warn(`${path} is not used, neighbours are looked for at the addresses of their links: ${reasonOf(error)}`);
    }
    return {};
  }
}

/** Writes the latest that it is given, soon and not too often. */
export function peerAddressKeeper(folder: string, clock: Clock, warn: (line: string | undefined) => void) {
  const save = (met: PeerAddresses) => durableWriteJson(join(folder, MET_FILE), met);
  const onSaved = (reason: string | undefined) => warn(reason && `where neighbours were met is not kept: ${reason}`);
  return latestKeeper(clock, save, onSaved, STATE_MILLISECONDS);
}
