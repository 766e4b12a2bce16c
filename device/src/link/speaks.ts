// What a peer answers when a stream of some protocol is opened: that it speaks it, that it does not, or nothing.

import { otherProtocols, versionOf } from "../version.ts";
import { OtherVersionError } from "./wire.ts";

/** A stream of libp2p is one. */
interface AskedStream {
  readonly protocol: string;
  abort(error: Error): void;
}

/** A connection of libp2p is one. */
interface AskingConnection<Stream extends AskedStream> {
  newStream(
    protocol: string | string[],
    options: { signal: AbortSignal; runOnLimitedConnection: true },
  ): Promise<Stream>;
}

/** Rejects if the peer does not answer in time. */
export async function speaksProtocol(
  connection: AskingConnection<AskedStream>,
  protocol: string,
  milliseconds: number,
): Promise<boolean> {
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

/** A stream of the newest version that both speak. Without any, it is found out which one the peer speaks. */
export async function openStream<Stream extends AskedStream>(
  connection: AskingConnection<Stream>,
  protocols: readonly string[],
  signal: AbortSignal,
): Promise<Stream> {
  const options = { signal, runOnLimitedConnection: true } as const;
  try {
    return await connection.newStream([...protocols], options);
  } catch (error) {
    if (!isUnsupported(error)) throw error;
    const stream = await connection.newStream(otherProtocols(protocols), options);
    stream.abort(new Error("another version"));
    throw new OtherVersionError(versionOf(stream.protocol));
  }
}
