// met.json: where each neighbour was last met, for the next start. It can be lost: then the links' own addresses are left.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, reasonOf } from "../environment.ts";
import { reachFault } from "../keys/peer.ts";
import type { PeerAddresses } from "../links/addressBook.ts";
import { STATE_MILLISECONDS } from "../wire/limits.ts";
import { writeJson } from "./disk.ts";

const MET_FILE = "met.json";

export async function readPeerAddresses(folder: string, warn: (line: string) => void): Promise<PeerAddresses> {
  const path = join(folder, MET_FILE);
  try {
    const entries = Object.entries(JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>);
    return Object.fromEntries(
      entries.map(([peer, addresses]) => [
        peer,
        (addresses as unknown[]).map(String).filter((address) => reachFault(address) === undefined),
      ]),
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      warn(`${path} is not used, neighbours are looked for at the addresses of their links: ${reasonOf(error)}`);
    }
    return {};
  }
}

/** Writes the latest that it is given, soon and not too often. */
export function peerAddressKeeper(folder: string, clock: Clock, warn: (line: string | undefined) => void) {
  let latest: PeerAddresses | undefined;
  let cancel: (() => void) | undefined;
  let writing = Promise.resolve();
  let isClosed = false;
  const write = async () => {
    cancel = undefined;
    if (latest === undefined) return;
    const met = latest;
    latest = undefined;
    try {
      await writeJson(join(folder, MET_FILE), met);
      warn(undefined);
    } catch (error) {
      warn(`where neighbours were met is not kept: ${reasonOf(error)}`);
      // There may be room later, and nobody may move until then.
      latest ??= met;
      if (!isClosed) writeSoon();
    }
  };
  const writeSoon = () => {
    cancel ??= clock.after(STATE_MILLISECONDS, () => {
      writing = writing.then(write);
    });
  };
  return {
    keep(met: PeerAddresses) {
      latest = met;
      writeSoon();
    },
    async close() {
      isClosed = true;
      cancel?.();
      await writing;
      await write();
    },
  };
}
