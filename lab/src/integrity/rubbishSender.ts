// The program of a linked peer that sends frames over TCP and keeps to no rule of the stream: 20 of 1 MiB of rubbish a second,
// or as many short ones that say when they were sent.

import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { privateKeyFromProtobuf } from "@libp2p/crypto/keys";
import type { Stream } from "@libp2p/interface";
import { openStream, rogue } from "../faults/tcpNetwork.ts";
import type { SenderJob } from "./frameCosts.ts";

const BETWEEN_MILLISECONDS = 50;
const ORDER_BYTES = 52;

async function run(): Promise<void> {
  const [{ address, key, role, shape, epochAt }] = (await once(process, "message")) as [SenderJob];
  const node = await rogue(privateKeyFromProtobuf(Buffer.from(key, "base64")));
  const make = role === "calm" ? () => calmFrame(shape, epochAt) : rubbishFrame(shape);
  let stream: Stream | undefined;
  process.send?.("ready");
  for (;;) {
    if (stream === undefined || stream.status !== "open") stream = await openStream(node, address);
    // Full buffers are the sender's own delay.
    if (stream?.status === "open" && stream.writeBufferLength < 1 << 22) stream.send(prefixed(make()));
    await pause(BETWEEN_MILLISECONDS);
  }
}

function header(frame: Buffer, kind: number, { k, d, hash }: SenderJob["shape"]): Buffer {
  frame.write("fdkm");
  frame[4] = 2;
  frame[5] = kind;
  frame.writeUInt16LE(k, 6);
  frame.writeUInt16LE(d, 8);
  Buffer.from(hash, "base64").copy(frame, 12);
  return frame;
}

/** A report about the order of frames, which changes nothing. */
function calmFrame(shape: SenderJob["shape"], epochAt: number): Buffer {
  const frame = header(Buffer.alloc(ORDER_BYTES), 3, shape);
  frame.writeBigUInt64LE(BigInt(Math.round(1_000 * (performance.timeOrigin + performance.now()))), epochAt);
  return frame;
}

function rubbishFrame(shape: SenderJob["shape"]): () => Buffer {
  const frame = header(Buffer.alloc(1 << 20, "rubbish"), 7, shape);
  return () => frame;
}

/** Behind its length, as on the stream. */
function prefixed(frame: Buffer): Buffer {
  const prefix: number[] = [];
  for (let rest = frame.length; ; rest >>>= 7) {
    prefix.push(rest < 0x80 ? rest : (rest & 0x7f) | 0x80);
    if (rest < 0x80) break;
  }
  return Buffer.concat([Buffer.from(prefix), frame]);
}

await run();
