// What a running device makes of frames about keys that a neighbour, or whoever holds a neighbour's link, can send: its
// files change for signed statements only, and never for the word of a key that is not to be trusted.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFolder } from "../../src/daemon/folder.ts";
import { startKeys } from "../../src/daemon/runningKeys.ts";
import { changeRevokedFile, readRevokedFile, withKnownRevocation } from "../../src/disk/keyFiles.ts";
import { type Link, readLinksFile, writeLinksFile } from "../../src/disk/linksFile.ts";
import type { NetworkListener, PeerNetwork } from "../../src/environment.ts";
import {
  encodeRevocations,
  encodeSuccessors,
  makeRevocation,
  makeSuccessor,
  type Revocation,
  type Successor,
} from "../../src/keys/statements.ts";
import { simulatedClock } from "../../src/simulation/clock.ts";
import { identity } from "../keys/identities.ts";
import { studyText } from "../problem.ts";

const [north, south, next, thief] = [11, 12, 13, 14].map(identity);
let base = "";
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "fedkm-running-"));
});
afterEach(() => rmSync(base, { recursive: true }));

/** A device linked with north and south, and what a test hears of it. */
async function device(prepare: (path: string) => Promise<unknown> = async () => {}) {
  const path = join(base, "own");
  const folder = await createFolder(path, studyText, {
    name: "own",
    data: [join(base, "rows.csv")],
    listen: [],
    announce: [],
  });
  const links: Link[] = [
    { name: "north", peer: north.peer, addresses: [] },
    { name: "south", peer: south.peer, addresses: [] },
  ];
  await writeLinksFile(path, links);
  await prepare(path);
  const sent: string[] = [];
  const events: string[] = [];
  let ears: NetworkListener | undefined;
  const network: PeerNetwork = {
    self: folder.identity.peer,
    start: async (listener) => {
      ears = listener;
    },
    send: (peer) => sent.push(peer),
    close: async () => {},
  };
  const parts = { links, notices: { set() {} } };
  const keys = await startKeys({
    ...({ folder, parts, network, peerAddresses: {} } as never as Parameters<typeof startKeys>[0]),
    audit: { note: (event: string) => events.push(event) } as never,
    clock: simulatedClock(),
    useLinks: async () => {
      parts.links = await readLinksFile(path);
    },
    onDue() {},
  });
  await keys.network.start({ onConnect() {}, onDisconnect() {}, onFrame() {} });
  for (const { peer } of links) ears?.onConnect(peer);
  return {
    path,
    events,
    /** A frame of a neighbour, and everything that follows from it. */
    async hears(from: string, frame: Uint8Array) {
      ears?.onFrame(from, frame);
      await keys.close();
    },
    peers: async () => (await readLinksFile(path)).map(({ peer }) => peer),
  };
}

const flipped = (bytes: Uint8Array, at: number) => Uint8Array.from(bytes, (byte, i) => (i === at ? byte ^ 1 : byte));
const unchanged = [north.peer, south.peer];

describe("a successor", () => {
  const good = makeSuccessor(south, next, 1_700_000_000_000);

  test("that both keys signed is followed", async () => {
    const own = await device();
    await own.hears(south.peer, encodeSuccessors([good]));
    expect(await own.peers()).toEqual([north.peer, next.peer]);
    expect(own.events).toEqual(["followed"]);
  });

  test.each([
    ["whose old key did not sign", 199],
    ["whose new key did not sign", 120],
  ])("%s is not followed, although its link brings it", async (_, at) => {
    const own = await device();
    const forged: Successor = { ...good, bytes: flipped(good.bytes, at) };
    await own.hears(south.peer, encodeSuccessors([forged]));
    expect(await own.peers()).toEqual(unchanged);
    expect(own.events).toEqual([]);
  });

  test("behind a signed one that nobody signed takes the signed one with it", async () => {
    const own = await device();
    const second = makeSuccessor(next, thief, 1_700_000_000_001);
    await own.hears(south.peer, encodeSuccessors([good, { ...second, bytes: flipped(second.bytes, 150) }]));
    expect(await own.peers()).toEqual(unchanged);
  });

  test("that a thief signed in the place of the old key is not followed, whoever brings it", async () => {
    for (const from of [south.peer, north.peer, thief.peer]) {
      const own = await device();
      const { bytes } = makeSuccessor(thief, next, 1_700_000_000_000);
      await own.hears(
        from,
        encodeSuccessors([{ ...good, bytes: Uint8Array.of(...good.bytes.subarray(0, 72), ...bytes.subarray(72)) }]),
      );
      expect(await own.peers()).toEqual(unchanged);
      rmSync(own.path, { recursive: true });
    }
  });

  const revoking = (signer: typeof north, revoked: string) => async (path: string) => {
    // At the word of somebody whose word unlinks nobody, so that the link still stands.
    const said = makeRevocation(signer, revoked, "stolen", 1);
    const standpoint = { links: [], via: north.peer, at: new Date(0) };
    await changeRevokedFile(path, (list) => withKnownRevocation(list, said, standpoint));
  };

  test("of a key that was revoked is not followed", async () => {
    const own = await device(revoking(thief, south.peer));
    await own.hears(south.peer, encodeSuccessors([good]));
    expect(await own.peers()).toEqual(unchanged);
  });

  test("that was itself revoked is not followed", async () => {
    const own = await device(revoking(thief, next.peer));
    await own.hears(south.peer, encodeSuccessors([good]));
    expect(await own.peers()).toEqual(unchanged);
  });

  test("of a key that nobody spoke against is followed beside revocations of others", async () => {
    const own = await device(revoking(thief, identity(20).peer));
    await own.hears(south.peer, encodeSuccessors([good]));
    expect(await own.peers()).toEqual([north.peer, next.peer]);
  });
});

describe("a revocation", () => {
  const good = makeRevocation(north, south.peer, "stolen", 1_700_000_000_000);

  test("that a neighbour signed unlinks", async () => {
    const own = await device();
    await own.hears(north.peer, encodeRevocations([good]));
    expect(await own.peers()).toEqual([north.peer]);
    expect(await readRevokedFile(own.path)).toHaveLength(1);
  });

  test("that nobody signed unlinks nobody, is not kept, and is not passed on", async () => {
    const at = good.bytes.length - 1;
    const forged: Revocation = { ...good, bytes: flipped(good.bytes, at) };
    const own = await device();
    await own.hears(north.peer, encodeRevocations([forged]));
    expect(await own.peers()).toEqual(unchanged);
    expect(await readRevokedFile(own.path)).toEqual([]);
    expect(own.events).toEqual([]);
  });

  test("in the file with a changed byte stops the device by a line that names the file", async () => {
    const own = await device();
    await own.hears(north.peer, encodeRevocations([good]));
    const file = join(own.path, "revoked.json");
    const entries = JSON.parse(readFileSync(file, "utf8"));
    const bytes = Buffer.from(entries[0].statement, "base64url");
    for (const at of [8, 60, bytes.length - 1]) {
      const statement = Buffer.from(flipped(bytes, at)).toString("base64url");
      writeFileSync(file, JSON.stringify([{ ...entries[0], statement }]));
      await expect(readRevokedFile(own.path), `byte ${at}`).rejects.toThrow(/revoked\.json must .*whole and signed/);
    }
    writeFileSync(file, JSON.stringify(entries));
    expect(await readRevokedFile(own.path)).toHaveLength(1);
  });
});
