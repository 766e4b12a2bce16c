// Which versions of the protocol a device speaks, by what names, and what is said about a neighbour that speaks none of them.

/** Of every frame that is written, and the only one that is read. */
export const VERSION = 2;

/**
 * What libp2p calls the streams of the versions that are spoken, the newest first: of two devices each takes the first
 * that both have. Devices of before that name did version 2 under the name of version 1.
 */
export const PROTOCOLS: readonly string[] = ["/fedkm/2", "/fedkm/1"];

/** How far ahead a neighbour may be for its version to be found out. */
const VERSIONS_AHEAD = 8;

/** The names of versions that are not among `spoken`, to find out what a neighbour speaks. */
export function otherProtocols(spoken: readonly string[]): string[] {
  const versions = Array.from({ length: VERSION + VERSIONS_AHEAD }, (_, n) => `/fedkm/${n + 1}`);
  return versions.filter((name) => !spoken.includes(name)).reverse();
}

export function versionOf(protocol: string): number {
  return Number(protocol.slice("/fedkm/".length));
}

/** A sentence that begins after the neighbour's name. */
export function versionFault(theirs: number): string {
  const remedy = theirs < VERSION ? "ask its owner to update fedkm" : "update fedkm here";
  return `speaks protocol ${theirs}, this device ${VERSION}: ${remedy}`;
}
