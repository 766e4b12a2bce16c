// The recording of one device: every frame that it sends and receives, with peer and time, as lines that can be added to.

import type { Clock, PeerNetwork } from "../environment.ts";

/** Something that a device sent, received or noticed. */
export interface RecordedEvent {
  /** Milliseconds of the device's clock. */
  readonly at: number;
  readonly kind: "sent" | "received" | "connected" | "disconnected";
  readonly peer: string;
  /** Empty where nothing was sent or received. */
  readonly frame: Uint8Array;
}

const nothing: Uint8Array = new Uint8Array(0);

/** The same network, and `note` learns of everything that passes through it. A frame is noted when it is handed over. */
export function recordedNetwork(network: PeerNetwork, clock: Clock, note: (event: RecordedEvent) => void): PeerNetwork {
  const add = (kind: RecordedEvent["kind"], peer: string, frame = nothing) =>
    note({ at: clock.now(), kind, peer, frame });
  return {
    ...network,
    start: (listener) =>
      network.start({
        onFrame(peer, frame) {
          add("received", peer, frame);
          listener.onFrame(peer, frame);
        },
        onConnect(peer) {
          add("connected", peer);
          listener.onConnect(peer);
        },
        onDisconnect(peer) {
          add("disconnected", peer);
          listener.onDisconnect(peer);
        },
      }),
    send(peer, frame) {
      add("sent", peer, frame);
      network.send(peer, frame);
    },
  };
}

/** The first line of every start of the device. */
export interface RecordingHeader {
  readonly recording: "fedkm";
  readonly version: 1;
  /** The recorded device. */
  readonly peer: string;
  /** The hash of its study, in hex. */
  readonly study: string;
  /** The wall clock when the clock of the events stood at `clock`. */
  readonly startedAt: string;
  readonly clock: number;
}

/** What a device has sent and received, as a file. */
export interface Recording {
  readonly header: RecordingHeader;
  readonly events: readonly RecordedEvent[];
}

export function recordingLine({ at, kind, peer, frame }: RecordedEvent): string {
  const bytes = frame.length === 0 ? {} : { frame: toBase64(frame) };
  return `${JSON.stringify({ at: Math.round(at * 1000) / 1000, kind, peer, ...bytes })}\n`;
}

/** All starts in a recording, in order. A last line that was cut off by a crash is left out. */
export function parseRecording(text: string): Recording[] {
  const recordings: { header: RecordingHeader; events: RecordedEvent[] }[] = [];
  const lines = text.split("\n");
  const isCut = lines.pop() !== "";
  lines.forEach((line, n) => {
    const fields = parseLine(line, n);
    if ("recording" in fields) {
      if (fields.version !== 1) throw new RangeError(`version of a recording must be 1, got ${fields.version}`);
      recordings.push({ header: fields, events: [] });
      return;
    }
    const last = recordings.at(-1);
    if (last === undefined) throw new SyntaxError(`a recording must begin with its header, got line 1 without one`);
    const { at, kind, peer, frame } = fields;
    last.events.push({ at, kind, peer, frame: frame === undefined ? nothing : fromBase64(frame) });
  });
  if (recordings.length === 0) {
    throw new SyntaxError(`a recording must begin with its header, got ${isCut ? "half a line" : "no line"}`);
  }
  return recordings;
}

type Line = RecordingHeader | (Omit<RecordedEvent, "frame"> & { readonly frame?: string });

function parseLine(line: string, n: number): Line {
  try {
    const fields: unknown = JSON.parse(line);
    if (typeof fields === "object" && fields !== null && ("recording" in fields || "kind" in fields)) {
      return fields as Line;
    }
  } catch {
    // Named below like any other line that is not one of ours.
  }
  throw new SyntaxError(`line ${n + 1} of a recording must be a JSON object with kind or recording, got another`);
}

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}
