// A stream of bytes between two devices, as a transport gives it to the keeper of the links.

import { versionFault } from "../version.ts";

/** One stream as the transport gives it. */
export interface ByteStream {
  /** Which connection carries it. */
  readonly connection: string;
  send(bytes: Uint8Array): void;
  abort(reason: string): void;
}

export interface StreamListener {
  onBytes(bytes: Uint8Array): void;
  /** Once, whoever closed it. */
  onClose(): void;
}

/** What the transport does for a keeper. */
export interface StreamTransport {
  /** Opens a stream for sending to a peer, on `connection` or else on the newest one there is, or rejects. */
  open(peer: string, listener: StreamListener, signal: AbortSignal, connection?: string): Promise<ByteStream>;
  /** Closes everything there is with a peer. */
  hangUp(peer: string): void;
}

/** The peer speaks another version of the protocol, and none of ours. */
export class OtherVersionError extends Error {
  readonly version: number;

  constructor(version: number) {
    super(`it ${versionFault(version)}`);
    this.version = version;
  }
}

/** The peer answered, proved its key and hung up. */
export class NotLinkedBackError extends Error {
  constructor() {
    super('it has not linked back (run "fedkm device accept" there), or it keeps this device away for a while');
  }
}
