// The program of many linked peers that keep to the rules of the stream and send as much as these allow.

import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { PROTOCOL } from "@fedkm/device/libp2p";
import { privateKeyFromProtobuf } from "@libp2p/crypto/keys";
import type { Stream } from "@libp2p/interface";
import { openStream, rogue } from "./tcpNetwork.ts";

/** What the program is sent first. */
export interface Crowd {
  readonly address: string;
  /** One for each peer, in base 64. */
  readonly keys: readonly string[];
}

/** Frames that may be under way unconfirmed, docs/protocol.md. */
const CREDIT = 64;
const TICK_MILLISECONDS = 5;
/** A peer sends all it may, then lets the others: frames come evenly. */
const TURNS = 8;
/** Of the first peer, which does not flood: an honest neighbour whose rows keep changing. */
const MOVES_PER_SECOND = 50;

interface Peer {
  readonly stream: Stream;
  /** A frame of this study. */
  readonly frame: Uint8Array;
  sequence: number;
  credit: number;
}

const [{ address, keys }] = (await once(process, "message")) as [Crowd];
const peers: Peer[] = [];
for (const key of keys) peers.push(await join(Buffer.from(key, "base64")));
let isFlooding = false;
process.on("message", () => {
  isFlooding = true;
});
process.on("disconnect", () => process.exit());
process.send?.("linked");
run();

/** Takes what it is sent, and confirms none of it: after 64 frames there is nothing more to read. */
async function join(key: Uint8Array): Promise<Peer> {
  const node = await rogue(privateKeyFromProtobuf(key));
  const received = new Promise<Uint8Array>((resolve) => {
    node.handle(PROTOCOL, (stream) => {
      stream.addEventListener("message", ({ data }) => resolve(Uint8Array.from(data.subarray())));
    });
  });
  let stream = await openStream(node, address);
  while (stream === undefined) {
    await pause(500);
    stream = await openStream(node, address);
  }
  // The first frame carries sketches, and its length takes two bytes. Without them it is 109 bytes long.
  const first = await received;
  const frame = new Uint8Array(1 + 109);
  frame[0] = 109;
  frame.set(first.subarray(2, 2 + 109), 1);
  frame.fill(0, 1 + 10, 1 + 12);
  frame.fill(0, 1 + 36, 1 + 44);
  const peer: Peer = { stream, frame, sequence: 0, credit: CREDIT };
  stream.addEventListener("message", ({ data }) => {
    for (const taken of data.subarray()) peer.credit += taken;
  });
  return peer;
}

function run(): void {
  let tick = 0;
  setInterval(() => {
    tick += 1;
    if (tick % (1_000 / TICK_MILLISECONDS / MOVES_PER_SECOND) === 0) send(peers[0], moved(peers[0]));
    if (!isFlooding) return;
    for (let n = 1 + (tick % TURNS); n < peers.length; n += TURNS) {
      const peer = peers[n];
      const share = Math.min(peer.credit, 8);
      for (let i = 0; i < share; i++) send(peer, kinds[(n + i) % kinds.length](peer));
    }
  }, TICK_MILLISECONDS);
}

function send(peer: Peer, frame: Uint8Array): void {
  if (peer.credit === 0 || peer.stream.writeStatus !== "writable") return;
  peer.credit -= 1;
  peer.stream.send(frame);
}

/** Taken: other centroids than before. */
function moved(peer: Peer): Uint8Array {
  const frame = peer.frame.slice();
  const view = new DataView(frame.buffer);
  peer.sequence += 1;
  view.setUint32(1 + 36, peer.sequence, true);
  const at = frame.length - 8;
  view.setFloat64(at, view.getFloat64(at, true) + 0.1 * Math.sin(peer.sequence), true);
  return frame;
}

const kinds: readonly ((peer: Peer) => Uint8Array)[] = [
  moved,
  // An old one: read to its end before its stamp can be judged.
  ({ frame }) => frame,
  // Of another study.
  ({ frame }) => {
    const other = frame.slice();
    other[1 + 27] ^= 1;
    return other;
  },
  // Not a number, in the last place.
  ({ frame }) => {
    const broken = frame.slice();
    new DataView(broken.buffer).setFloat64(frame.length - 8, Number.NaN, true);
    return broken;
  },
];
