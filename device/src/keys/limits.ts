// The limits of what devices say about keys, in one place.
// Every one is a row of docs/protocol.md#limits with the same number and sentence; a test compares them.

/** docs/protocol.md#keys-of-devices: "A frame carries at most this many statements about successors, the latest ones." */
export const MOST_SUCCESSORS = 16;

/** docs/protocol.md#keys-of-devices: "A device keeps at most this many revocations." */
export const MOST_REVOCATIONS = 64;

/** docs/protocol.md#keys-of-devices: "The reason of a revocation has at most this many characters." */
export const LONGEST_REASON = 200;

/**
 * docs/protocol.md#keys-of-devices: "At the word of one neighbour a device unlinks at most this many others within the time below,
 * and shows the rest to its owner."
 */
export const MOST_UNLINKED = 3;

/** docs/protocol.md#keys-of-devices: "Others that were unlinked at the word of a neighbour are counted over this time." */
export const UNLINKED_MILLISECONDS = 86_400_000;

/**
 * docs/protocol.md#keys-of-devices: "Beyond the number that a device keeps, a neighbour may bring one new revocation in this time,
 * whoever signed it."
 */
export const BETWEEN_REVOCATIONS_MILLISECONDS = 3_600_000;

/** docs/protocol.md#keys-of-devices: "A neighbour may send this many frames about keys at once." */
export const KEY_FRAME_BURST = 16;

/** docs/protocol.md#keys-of-devices: "Beyond that a neighbour may send one frame about keys in this time." */
export const BETWEEN_KEY_FRAMES_MILLISECONDS = 10_000;

/**
 * docs/protocol.md#keys-of-devices: "What a neighbour has not answered is sent again after this time, and each time after twice as
 * long."
 */
export const FIRST_REPEAT_MILLISECONDS = 30_000;

/** docs/protocol.md#keys-of-devices: "It is sent again after this time at the latest, for as long as the connection stands." */
export const LONGEST_REPEAT_MILLISECONDS = 3_600_000;
