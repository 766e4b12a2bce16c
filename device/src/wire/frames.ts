// Every kind of frame that devices send each other, in one table, and the header that all of them begin with.

/** Of every frame that is written, and the only one that is read. */
export const VERSION = 2;
/** What libp2p calls the streams of this version. */
export const PROTOCOL = `/fedkm/${VERSION}`;
export const MAGIC = 0x6d6b6466; // "fdkm"

/** magic 4, version 1, kind 1, k 2, d 2, count or flags 2, study hash 16, epoch 8, sequence 8. All numbers little-endian. */
export const HEADER_BYTES = 44;
export const VERSION_AT = 4;
export const KIND_AT = 5;
/** How many parts follow, or flags. */
export const COUNT_AT = 10;
const HASH_AT = 12;
export const EPOCH_AT = 28;
export const SEQUENCE_AT = 36;
/** So much of the SHA-256 of the canonical study is in every frame. */
export const HASH_BYTES = 16;

/** The code of every kind, with what follows the header and the bytes of each part. */
export const frameKinds = {
  /** Opening number 8, table 4, start 4, presence ceil(k / 8), centroids 8 k d, then sketches of 16 + k + 8 k d. */
  centroids: 1,
  /** The canonical study as text. */
  study: 2,
  /** Refused epoch 8. */
  order: 3,
  /** Statements of 200, or the public key 32 under which the receiver is known; see keys/statements.ts. */
  successors: 4,
  /** Statements of 138 and the reason; see keys/statements.ts. */
  revocations: 5,
  /** In a change of study: hash of the next study 16, its canonical text. */
  statement: 6,
  /** Known epoch 8, hashes of base and generation 64, place 16, counts and flags 10, openings of 100, marks of 8, entries; see boardFrame.ts. */
  board: 7,
  /** The same about the board before, with its base; it proves itself, so its stamp does not matter. */
  proof: 8,
  /** Digest of all statements that the sender has 32, flags 1, statements of 141 or 205; see membership.ts. */
  members: 9,
  /** Two heads of histories with signatures, of 96; see historyFrames.ts. */
  history: 10,
  /** Marks of 8, then doubts, books and evidence, each after its length; see books.ts. They prove themselves too. */
  books: 11,
} as const;

/** How far ahead a neighbour may be for its version to be found out. */
const VERSIONS_AHEAD = 8;

/** The names of other versions, the newest first, to find out what a neighbour speaks that does not speak this one. */
export function otherFrameProtocols(spoken: string): string[] {
  const names = Array.from({ length: VERSIONS_AHEAD + 1 }, (_, n) => `/fedkm/${VERSION + n}`);
  return names.filter((name) => name !== spoken).reverse();
}

export function versionOf(protocol: string): number {
  return Number(protocol.slice("/fedkm/".length));
}

/** A sentence that begins after the neighbour's name. */
export function frameVersionFault(theirs: number): string {
  const remedy = theirs < VERSION ? "ask its owner to update fedkm" : "update fedkm here";
  return `speaks protocol ${theirs}, this device ${VERSION}: ${remedy}`;
}

/** Whether the head of a frame says that it is of this kind, and of the version that is read. */
export function isOfKind(frame: Uint8Array, kind: keyof typeof frameKinds): boolean {
  return frame.length >= HEADER_BYTES && frame[VERSION_AT] === VERSION && frame[KIND_AT] === frameKinds[kind];
}

/** As its head says; "unknown": none that is known. */
export function frameKindName(frame: Uint8Array): string {
  return Object.entries(frameKinds).find(([, code]) => code === frame[KIND_AT])?.[0] ?? "unknown";
}

export function isOfStudy(frame: Uint8Array, { hash }: Pick<Contract, "hash">): boolean {
  return hash.every((byte, i) => frame[HASH_AT + i] === byte);
}

export function frameStudyHash(frame: Uint8Array): Uint8Array {
  return frame.subarray(HASH_AT, HASH_AT + HASH_BYTES);
}

/**
 * Frames of one lane replace each other: those of one kind and study. A device in a change of study sends the centroids
 * of two, and what it says once must not be lost to what it says often.
 */
export function frameLane(frame: Uint8Array): number {
  return [KIND_AT, HASH_AT, HASH_AT + 1, HASH_AT + 2].reduce((lane, at) => 256 * lane + frame[at], 0);
}

/** What sender and receiver of a frame must have in common. */
export interface Contract {
  readonly k: number;
  readonly d: number;
  readonly hash: Uint8Array;
  /** A coordinate outside is refused, one number for each feature. */
  readonly low: Float64Array;
  readonly high: Float64Array;
}

/** Which frame of its sender this is: a later one replaces an earlier one. Epochs grow from start to start, sequences within one. */
export interface Stamp {
  readonly epoch: number;
  readonly sequence: number;
}

/** Without a contract the frame is of no study, and what would name one is 0. */
export function writeHeader(/* OUT */ frame: Uint8Array, kind: keyof typeof frameKinds, contract?: Contract): DataView {
  const view = new DataView(frame.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint8(VERSION_AT, VERSION);
  view.setUint8(KIND_AT, frameKinds[kind]);
  if (contract === undefined) return view;
  view.setUint16(6, contract.k, true);
  view.setUint16(8, contract.d, true);
  frame.set(contract.hash, HASH_AT);
  return view;
}

/** A safe integer as 8 bytes. */
export function setInteger(view: DataView, at: number, value: number): void {
  view.setUint32(at, value % 2 ** 32, true);
  view.setUint32(at + 4, Math.floor(value / 2 ** 32), true);
}

export function getInteger(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
}

/** The hash of a study as text, in hex. */
export function studyId({ hash }: Pick<Contract, "hash">): string {
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
