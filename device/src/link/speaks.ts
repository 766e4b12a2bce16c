// What a peer answers when a stream of some protocol is opened: that it speaks it, that it does not, or nothing.

/** A connection of libp2p is one. */
interface AskingConnection {
  newStream(
    protocol: string,
    options: { signal: AbortSignal; runOnLimitedConnection: true },
  ): Promise<{ abort(error: Error): void }>;
}

/** Rejects if the peer does not answer in time. */
export async function speaks(connection: AskingConnection, protocol: string, milliseconds: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(milliseconds);
    const stream = await connection.newStream(protocol, { signal, runOnLimitedConnection: true });
    stream.abort(new Error("only asked"));
    return true;
  } catch (error) {
    if (isUnsupported(error)) return false;
    throw error;
  }
}

export function isUnsupported(error: unknown): boolean {
  return error instanceof Error && error.name === "UnsupportedProtocolError";
}
