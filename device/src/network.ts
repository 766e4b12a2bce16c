// What a device needs of the outside: names of peers, bytes to and from them. libp2p and the simulation both give it.

/** A peer is named by its public key's id. */
export interface PeerNetwork {
  readonly self: string;
  /** From now on the listener hears. */
  start(listener: NetworkListener): Promise<void>;
  /** Sends a frame to a linked peer. Only the latest of its type and study counts: one not yet sent is replaced, never queued. */
  send(peer: string, frame: Uint8Array): void;
  close(): Promise<void>;
}

/** A device's ears. Called one at a time, never from within `send`. */
export interface NetworkListener {
  onFrame(peer: string, frame: Uint8Array): void;
  /** Frames sent from now on arrive, unless the link breaks. */
  onConnect(peer: string): void;
  onDisconnect(peer: string): void;
}
