// The recording of a device in a file: every frame that it sends and receives, one line each, until the file is full.

import { createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { type Clock, type PeerNetwork, reasonOf } from "../environment.ts";
import { type RecordingHeader, recordedNetwork, recordingLine } from "../wire/recording.ts";
import type { NoticeBoard } from "./notices.ts";

/** A recording that has this many bytes grows no further. With k 3 and 2 features it holds about a million frames. */
const LARGEST_RECORDING_BYTES = 2 ** 28;

export interface RecordOptions {
  readonly clock: Clock;
  readonly notices: NoticeBoard;
  /** The hash of the study, in hex. */
  readonly study: string;
  readonly opened: (close: () => unknown) => void;
}

/** The network, recorded in this file. A file that cannot be written any more is noticed, and the device goes on. */
export async function recordToFile(
  file: string | undefined,
  network: PeerNetwork,
  { clock, notices, study, opened }: RecordOptions,
): Promise<PeerNetwork> {
  if (file === undefined) return network;
  // Opened first, so that a file that cannot be written is refused before the device sends anything.
  const handle = await open(file, "a", 0o600);
  let bytes = (await handle.stat()).size;
  const output = createWriteStream(file, { fd: handle });
  let isOver = false;
  const end = (reason: string) => {
    if (!isOver) notices.set("record", `frames are not recorded any more: ${reason}`);
    isOver = true;
  };
  output.on("error", (error) => end(reasonOf(error)));
  opened(() => new Promise<void>((resolve) => output.end(() => resolve())));
  const write = (line: string) => {
    if (isOver) return;
    bytes += line.length;
    if (bytes > LARGEST_RECORDING_BYTES) end(`${file} has ${LARGEST_RECORDING_BYTES} bytes`);
    else output.write(line);
  };
  const header: RecordingHeader = {
    recording: "fedkm",
    version: 1,
    peer: network.self,
    study,
    startedAt: new Date().toISOString(),
    clock: clock.now(),
  };
  write(`${JSON.stringify(header)}\n`);
  return recordedNetwork(network, clock, (event) => write(recordingLine(event)));
}
