// The times and limits of shared clusters. Every one is a row of docs/protocol.md#limits with the same number and
// sentence; a test compares them.

/** docs/protocol.md#board: "A device that has told a neighbour nothing for this time tells it again where it is." */
export const BOARD_BEAT_MILLISECONDS = 15_000;

/**
 * docs/protocol.md#board: "A neighbour that was silent for this time does not count any more, and is told so; its rows
 * are missing from the sums until it is heard again."
 */
export const SILENCE_MILLISECONDS = 60_000;

/**
 * docs/protocol.md#board: "What a neighbour has not confirmed is sent again after this time, then after twice as long,
 * and so on."
 */
export const PATIENCE_MILLISECONDS = 100;

/**
 * docs/protocol.md#board: "A neighbour that has not heard this device yet is greeted again after this time, then after
 * twice as long, and so on."
 */
export const GREETING_MILLISECONDS = 30;

/**
 * docs/protocol.md#board: "A device that received entries confirms them after this time, unless it has something else to
 * say before."
 */
export const CONFIRM_MILLISECONDS = 50;

/**
 * docs/protocol.md#board: "What came from others is passed on this long after the last frame to a neighbour, so that more
 * of it goes in one frame. The own entry goes at once."
 */
export const FORWARD_MILLISECONDS = 45;

/** docs/protocol.md#board: "Two moments at which a device sends are at least this far apart." */
export const BOARD_PACE_MILLISECONDS = 30;

/**
 * docs/protocol.md#board: "Entries with more integers than this are not sent to a neighbour of the device that they come
 * from, which has them from there, and numbers that all find themselves are not sent at all. Smaller ones are sent more
 * than once on purpose, so that a lost frame costs no time."
 */
export const SMALL_INTEGERS = 64;

/**
 * docs/protocol.md#board: "A generation further than this above the own one is refused, so that nobody can use up the
 * numbers. A device that has none yet takes any."
 */
export const FARTHEST_GENERATION = 16_777_216;

/**
 * docs/protocol.md#board: "The answer of a private study has a number this much above that of the sums that it comes from,
 * so that it counts as later than any census of devices that come afterwards."
 */
export const FROZEN_GENERATIONS = 65_536;

/** docs/protocol.md#board: "A board has at most so many entries: larger networks need sums over a tree." */
export const MOST_ENTRIES = 256;
